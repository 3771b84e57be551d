"""SavedModels that take text, and the predictor that answers with them.

In: a model with its vocabulary. Out: an export; answers. May import:
`extraction`, `squad`, `tasks` and below.

Read `servable`; a module a kind: `classifier`, `masked_lm`,
`question_answering`, `hub_encoder`, `hub_preprocessor`; `export`,
`verify_export`; `export_folder`, `loading`, `predictor`.
"""
