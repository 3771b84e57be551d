"""A fine-tuned classifier as it is served.

B batch, S sequence length, L outputs (labels; 1 for a regression)
"""

import tensorflow as tf

from bert_tf.serving.exportable import SAMPLE_TEXTS, as_bytes
from bert_tf.serving.served import ANY_TEXTS, Served
from bert_tf.tasks.labels import CLASSIFICATION, LABELS_FILE, REGRESSION


class Classifier(Served):
    """Classifies texts or pairs.

    Outputs: `logits`, float32 [B, L]; `probabilities`, float32 [B, L], in the
    order of labels.txt, or for a regression `values`, float32 [B]. From text,
    where each has one label of several, also `labels`, string [B].
    """

    kind = "classifier"

    def __init__(self, model, config, *, labels, is_pair, **others):
        """Stores its arguments.

        Args:
          model: tf_keras.Model, see `models.classifier_model`.
          config: BertConfig.
          labels: tasks.labels.Labels.
          is_pair: bool, whether an example is two texts.
          others: see Served.
        """
        super().__init__(model, config, **others)
        self.labels = labels
        self.is_pair = is_pair

    def call_model(self, inputs):
        """See Served."""
        logits = super().call_model(inputs)["logits"]
        if self.labels.kind == REGRESSION:
            return {"logits": logits, "values": logits[:, 0]}
        if self.labels.kind == CLASSIFICATION:
            return {"logits": logits, "probabilities": tf.nn.softmax(logits)}
        return {"logits": logits, "probabilities": tf.sigmoid(logits)}

    def description(self):
        """See Served."""
        return {
            **super().description(),
            "label_kind": self.labels.kind,
            "is_pair": self.is_pair,
        }

    def asset_files(self):
        """See Served."""
        names = "".join(f"{name}\n" for name in self.labels.names)
        own = {LABELS_FILE: names.encode()} if names else {}
        return {**super().asset_files(), **own}

    def signatures(self):
        """See Served."""
        from_text = self._from_pairs() if self.is_pair else self._from_texts()
        return {**super().signatures(), "serving_text": from_text}

    def _from_texts(self):
        @tf.function(input_signature=[ANY_TEXTS])
        def serving_text(text):
            return self._classify(text)

        return serving_text

    def _from_pairs(self):
        @tf.function(input_signature=[ANY_TEXTS, ANY_TEXTS])
        def serving_text(text_a, text_b):
            return self._classify(text_a, text_b)

        return serving_text

    def _classify(self, *texts):
        outputs = self.call_model(self.pack(*texts))
        if self.labels.kind == CLASSIFICATION:
            best = tf.argmax(outputs["probabilities"], axis=-1)
            names = tf.constant(self.labels.names)
            outputs["labels"] = tf.gather(names, best)
        return outputs

    def samples(self):
        """See Served."""
        texts = as_bytes(SAMPLE_TEXTS)
        inputs = {"text": texts}
        if self.is_pair:
            inputs = {"text_a": texts, "text_b": texts[::-1]}
        return {**super().samples(), "serving_text": inputs}
