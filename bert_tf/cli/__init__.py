"""What only scripts need: flags, checks of them, the work of each `main`.

In: flags. Out: files in --output_dir, and lines. May import: everything.

Read `common_flags`, `export_flags`, `checks`; what a script's flags mean:
`pretraining_inputs`, `classifier_inputs`, `squad_inputs`, `extraction_flags`;
and what it then does: `fine_tuning`, `classifier_run`, `squad_run`,
`conversion_command`, `predictor_command`.
"""
