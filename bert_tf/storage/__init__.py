"""Files, local or remote: read, listed, written whole or not at all.

In: paths and content. Out: content, or a UserError that names the file; lines
that tell how far long work has come. May import: `errors`.

Read `files`, `json_files`, `new_folder`, `results`, `progress`.
"""
