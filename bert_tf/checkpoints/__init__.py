"""2018's checkpoints: which files, which variables, and keeping a run's.

In: variables by their 2018 names. Out: the files that tf.train.Saver wrote in
2018, and their values. May import: `storage` and below.

Read `weight_reader`, `checkpoint_files`, `checkpoint_io`, `variable_table`,
`checkpoint_keeper`.
"""
