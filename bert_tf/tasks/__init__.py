"""The data of sentence classification: files to examples to records.

In the order of the data: `rows` (a file's lines), `examples` and `labels` (what
a task gives), `layouts`, `glue`, `xnli` and `columns` (whose row is what),
`registry` (a task's name to all that belongs to it), `packing` (text to ids),
`encoding` (ids to bytes), `converter` and `processes` (examples to records),
`fingerprint` and `records` (TFRecord files), `metrics`, and `predictions`.
"""
