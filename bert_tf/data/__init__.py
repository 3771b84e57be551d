"""Documents to masked instances, records as bytes, and records to batches.

In: text files, or ids. Out: TFRecord files, and batches of tensors. May import:
`text` and below.

Read `documents`, `masking`, `instances`, `record_writer`,
`pretraining_data`; `input_pipeline`, `batching`.
"""
