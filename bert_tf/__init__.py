"""A faithful TensorFlow 2 / tf_keras port of the 2018 BERT release.

The names below are imported on first use, so that `import bert_tf` and every
script's `--help` answer without importing TensorFlow.
"""

import importlib

_HOME_OF = {
    "AdamWeightDecay": "training.optimization",
    "BasicTokenizer": "text.tokenization",
    "BertConfig": "config",
    "BertEncoder": "model.encoder",
    "FullTokenizer": "text.tokenization",
    "Predictor": "serving.predictor",
    "WordpieceTokenizer": "text.tokenization",
    "create_optimizer": "training.optimization",
    "load_checkpoint": "weights.loading",
}

__all__ = sorted(_HOME_OF)


def __getattr__(name):
    if name not in _HOME_OF:
        raise AttributeError(f"module 'bert_tf' has no attribute {name!r}")
    return getattr(importlib.import_module(f"bert_tf.{_HOME_OF[name]}"), name)


def __dir__():
    return sorted(set(globals()) | set(__all__))
