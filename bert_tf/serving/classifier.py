"""A fine-tuned classifier as it is served.

B batch, S sequence length, L outputs (labels; 1 for a regression)
"""

import tensorflow as tf

from bert_tf.serving.servable import (
    ANY_TEXTS,
    SAMPLE_TEXTS,
    ServedModel,
    as_bytes,
)
from bert_tf.tasks.labels import CLASSIFICATION, LABELS_FILE, REGRESSION


class Classifier(ServedModel):
    """Classifies texts or pairs.

    Outputs: `logits`, float32 [B, L]; `probabilities`, float32 [B, L], in the
    order of labels.txt, or for a regression `values`, float32 [B]. From text,
    where each has one label of several, also `labels`, string [B].
    """

    kind = "classifier"

    def __init__(self, model, config, *, labels, is_pair, **others):
        """Stores a `models.classifier_model` and the rest, see ServedModel.

        Args:
          labels: tasks.labels.Labels.
          is_pair: bool, whether an example is two texts; None if not known.
        """
        super().__init__(model, config, **others)
        self.labels = labels
        self.is_pair = is_pair

    def call_model(self, inputs):
        logits = super().call_model(inputs)["logits"]
        if self.labels.kind == REGRESSION:
            return {"logits": logits, "values": logits[:, 0]}
        if self.labels.kind == CLASSIFICATION:
            return {"logits": logits, "probabilities": tf.nn.softmax(logits)}
        return {"logits": logits, "probabilities": tf.sigmoid(logits)}

    def description(self):
        return {
            **super().description(),
            "label_kind": self.labels.kind,
            "is_pair": self.is_pair,
        }

    def asset_files(self):
        names = "".join(f"{name}\n" for name in self.labels.names)
        own = {LABELS_FILE: names.encode()} if names else {}
        return {**super().asset_files(), **own}

    def signatures(self):
        # The names of the parameters are those of the signature's inputs.
        @tf.function(input_signature=[ANY_TEXTS])
        def of_texts(text):
            return self._classify(text)

        @tf.function(input_signature=[ANY_TEXTS, ANY_TEXTS])
        def of_pairs(text_a, text_b):
            return self._classify(text_a, text_b)

        from_text = of_pairs if self.is_pair else of_texts
        return {**super().signatures(), "serving_text": from_text}

    def _classify(self, texts_a, texts_b=None):
        outputs = self.call_model(self.pack(texts_a, texts_b))
        if self.labels.kind == CLASSIFICATION:
            best = tf.argmax(outputs["probabilities"], axis=-1)
            names = tf.constant(self.labels.names)
            outputs["labels"] = tf.gather(names, best)
        return outputs

    def samples(self):
        texts = as_bytes(SAMPLE_TEXTS)
        inputs = {"text": texts}
        if self.is_pair:
            inputs = {"text_a": texts, "text_b": texts[::-1]}
        return {**super().samples(), "serving_text": inputs}
