"""Words to ids, in Python and, id for id the same, inside a graph.

In: text and a vocabulary's file. Out: ids, packed as [CLS] A [SEP] B [SEP].
May import: `features` and below.

Read `vocabulary`, `tokenization`, `packing`; then the same in a graph:
`code_points`, `graph_characters`, `graph_tokenizer`, `graph_packing`.
"""

import importlib


def __getattr__(name):
    # On first use: the tokenizer in a graph imports TensorFlow.
    if name != "TextTokenizer":
        raise AttributeError(f"module 'bert_tf.text' has no attribute {name!r}")
    return importlib.import_module("bert_tf.text.graph_tokenizer").TextTokenizer
