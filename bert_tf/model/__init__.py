"""The model of the paper: pieces' ids in, losses and logits out.

In: a BertConfig; int32 [B, S] tensors. Out: tf_keras models whose variables
have the 2018 names, and the losses of each job. May import: `features` and
below; never data.

Read `activations`, `dropout`, `layers`, `encoder`, `heads`, `losses`, `models`.
"""
