"""What only scripts need: flags, checks of them, the work of each `main`.

In: flags. Out: files in --output_dir, and lines. May import: everything.

Read `common_flags`, `export_flags`, `checks`; then what a script does:
`classifier_files`, `squad_switches`, `squad_files`, `extraction_flags`,
`predictor_command`.
"""
