"""Examples to TFRecord files.

In: examples and labels. Out: records as 2018 made them, made again only where
something changed.

Read `converter`, `fingerprint`, `record_files`.
"""
