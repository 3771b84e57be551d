"""Weights of any format, and what lies beside them.

In: what --init_checkpoint and its neighbours name. Out: configuration,
vocabulary and letter case; a model with its weights; another format. May
import: `formats`, `model` and below.

Read `weights_path`, `model_folder`, `model_choice`, `loading`, `conversion`,
`description`.
"""
