"""Steps from weights to better weights, and what tells how good they are.

In: batches, a model, settings. Out: checkpoints, results, predictions as
arrays. May import: `tasks`, `weights`, `data` and below.

Read `optimization`, `distribution`, `training_loop`, `run_state`, `run_start`,
`job`, `best_weights`; then one file a task: `pretraining`, `classification`,
`question_answering`.
"""
