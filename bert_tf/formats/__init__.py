"""Weights in other people's formats, read and written as 2018's variables.

In: Hugging Face's folders, Model Garden's checkpoints, SavedModels. Out: their
values by 2018 name, and the way back. May import: `checkpoints` and below.

Read `safetensors_files`, `huggingface_config`, `huggingface`; `object_graph`,
`model_garden_names`, `model_garden_search`, `model_garden`; and `saved_model`.
"""
