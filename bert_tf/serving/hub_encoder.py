"""An encoder in the form of TensorFlow Hub, to be trained further by anyone.

    layer = hub.KerasLayer("out/export/1", trainable=True)
    outputs = layer({"input_word_ids": ..., "input_mask": ...,
                     "input_type_ids": ...})

B batch, S sequence length, D hidden_size
"""

import numpy as np
import tensorflow as tf

from bert_tf.features import INPUT_KEYS
from bert_tf.model.dropout import dropout_states
from bert_tf.serving.servable import Servable, any_size
from bert_tf.storage import files
from bert_tf.weights.loading import variable_names
from bert_tf.weights.model_folder import CONFIG_FILE, VOCAB_FILE

# What Hub calls the inputs of INPUT_KEYS, in their order.
HUB_INPUTS = ("input_word_ids", "input_mask", "input_type_ids")
_ANY_SIZE = any_size(HUB_INPUTS)


class HubEncoder(Servable):
    """A BERT encoder as the modules on TensorFlow Hub are.

    Called with a dict of HUB_INPUTS to int32 [B, S], any B and any S up to
    `max_position_embeddings`, it gives a dict:

        pooled_output: float32 [B, D].
        default: the same.
        sequence_output: float32 [B, S, D].
        encoder_outputs: list of float32 [B, S, D], one a layer.

    With `training=True`, which hub.KerasLayer passes on when it is trainable,
    dropout acts at the configuration's rates. Its random states are saved, so
    that whoever loads the export draws the same masks in the same order; under
    a tf.distribute strategy each replica does.

    The signature `serving_default` takes the same inputs by name; there
    `encoder_outputs_0`, `encoder_outputs_1`, ... stand for the list.

    Attributes of what is loaded, as Hub has them: `variables`,
    `trainable_variables`; with a vocabulary also `vocab_file`, an asset, and
    `do_lower_case`, a bool variable.
    """

    kind = "encoder"
    # tf.Module has properties of these names, which are not saved; lists are.
    variables = ()
    trainable_variables = ()

    def __init__(
        self,
        encoder,
        config,
        *,
        vocab_file=None,
        do_lower_case=None,
        max_seq_length=None,
    ):
        """Stores a BertEncoder and its BertConfig.

        Args:
          vocab_file: str, or None where it is not known.
          do_lower_case: bool, given with a vocabulary.
          max_seq_length: int, S at most, as the description says it; by
            default as long as the model goes.
        """
        super().__init__()
        self.config = config
        self.vocab_file = self._vocab_file = vocab_file
        self._is_lower = do_lower_case
        self.max_seq_length = max_seq_length or config.max_position_embeddings
        # Variables, and not the encoder: tf_keras would add functions of its
        # own for each layer to an export. The lambda hides it from tf.Module.
        self._run = lambda *args, **kwargs: encoder(*args, **kwargs)
        self.variables = list(encoder.variables)
        self.trainable_variables = list(encoder.trainable_variables)
        # By their 2018 names, for `saved_model`.
        self.bert_variables = variable_names(encoder)
        self.dropout_states = dropout_states(encoder)
        if vocab_file:
            self.do_lower_case = tf.Variable(do_lower_case, trainable=False)

    @tf.function
    def __call__(self, inputs, training=False):
        """See the class; `training`: bool."""
        inputs = {
            key: inputs[name] for key, name in zip(INPUT_KEYS, HUB_INPUTS)
        }
        outputs = self._run(inputs, training=training)
        return {
            "pooled_output": outputs["pooled_output"],
            "default": outputs["pooled_output"],
            "sequence_output": outputs["sequence_output"],
            "encoder_outputs": outputs["encoder_outputs"],
        }

    def description(self):
        case = {"do_lower_case": self._is_lower} if self._vocab_file else {}
        return {
            **super().description(),
            **case,
            "max_seq_length": self.max_seq_length,
            "hidden_size": self.config.hidden_size,
            "input_names": HUB_INPUTS,
        }

    def asset_files(self):
        contents = {
            **super().asset_files(),
            CONFIG_FILE: self.config.to_json_string().encode(),
        }
        if self._vocab_file:
            contents[VOCAB_FILE] = files.read_bytes(self._vocab_file)
        return contents

    def keep_assets(self, assets):
        super().keep_assets(assets)
        self.vocab_file = assets.get(VOCAB_FILE)

    def signatures(self):
        """See Servable; what the object itself does is traced as well."""
        for training in (False, True):
            self.__call__.get_concrete_function(_ANY_SIZE, training=training)

        @tf.function
        def serving_default(**inputs):
            outputs = self(inputs, training=False)
            layers = outputs.pop("encoder_outputs")
            return outputs | {
                f"encoder_outputs_{i}": layer for i, layer in enumerate(layers)
            }

        return {
            "serving_default": serving_default.get_concrete_function(
                **_ANY_SIZE
            )
        }

    def samples(self):
        shape = (3, min(7, self.max_seq_length))
        count = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        mask = np.ones(shape, np.int32)
        mask[1, 2:] = 0
        inputs = (
            count % self.config.vocab_size,
            mask,
            count % self.config.type_vocab_size,
        )
        return {"serving_default": dict(zip(HUB_INPUTS, inputs))}
