"""Documents to masked instances, records as bytes, and records to batches.

In: text files, or ids. Out: TFRecord files, and batches of tensors. May import:
`text` and below.

Read `documents`, `masking`, `instances`, `pretraining_data`; `record_writer`,
`record_file`; `input_pipeline`, `batching`.
"""
