"""A model that answers questions, as it is served.

B batch (of windows, or of questions), S sequence length, W windows
"""

import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.serving.servable import ANY_TEXTS, ServedModel, as_bytes
from bert_tf.squad import graph_answers, graph_windows
from bert_tf.squad.graph_spans import Spans
from bert_tf.squad.windows import require_room

# How many windows the model takes at a time: memory does not grow with the
# length of the contexts.
_WINDOWS_AT_A_TIME = 32


class QuestionAnswering(ServedModel):
    """Answers questions from contexts.

    Outputs from pieces: `start_logits`, `end_logits`, float32 [B, S].

    From text, a `question` and a `context` (string [B], UTF-8), which is cut
    into windows of `max_seq_length`: `answer`, string [B]; `start_char`,
    `end_char`, int32 [B]; `probability`, `null_probability`, float32 [B].

    The answer is that of predictions.json, letter for letter, and so are the
    probabilities those of answers.json. It is context[start_char:end_char] in
    characters, without bytes that are not UTF-8, and with one blank for each
    run of blank, tab, CR, LF and U+202F. Where the letters of its words do not
    line up with its pieces, the answer is the whole words, see
    `squad.graph_spans`. No answer (version 2) is "", from 0 to 0, with
    `probability` equal to `null_probability`.

    In version 1 every `null_probability` is 0. Where no span of the context can
    be an answer, 2018 says "empty", and so does this, from 0 to 0 with
    probability 1. Logits that are not finite are an error.
    """

    kind = "question_answering"

    def __init__(
        self,
        model,
        config,
        *,
        max_query_length=64,
        doc_stride=128,
        n_best_size=20,
        max_answer_length=30,
        version_2_with_negative=False,
        null_score_diff_threshold=0.0,
        **others,
    ):
        """Stores a `models.question_answering_model` and more, see ServedModel.

        Args:
          max_query_length: int, pieces; the rest of a question is cut off.
          doc_stride: int, pieces from one window's start to the next one's.
          n_best_size: int.
          max_answer_length: int, pieces.
          version_2_with_negative: bool, whether there may be no answer.
          null_score_diff_threshold: float; there is no answer where its score
            is higher by more than this. Without a meaning for version 1.

        Raises:
          UserError: a number is too small; and see ServedModel.
        """
        require_room(others["max_seq_length"], max_query_length, doc_stride)
        counts = {
            "n_best_size": n_best_size,
            "max_answer_length": max_answer_length,
        }
        for flag, value in counts.items():
            if value < 1:
                raise UserError(f"--{flag}={value} must be 1 or more.")
        super().__init__(model, config, **others)
        self.max_query_length = max_query_length
        self.doc_stride = doc_stride
        self.n_best_size = n_best_size
        self.max_answer_length = max_answer_length
        self.version_2_with_negative = version_2_with_negative
        self.null_score_diff_threshold = float(null_score_diff_threshold)

    def description(self):
        return {
            **super().description(),
            "max_query_length": self.max_query_length,
            "doc_stride": self.doc_stride,
            "n_best_size": self.n_best_size,
            "max_answer_length": self.max_answer_length,
            "version_2_with_negative": self.version_2_with_negative,
            "null_score_diff_threshold": self.null_score_diff_threshold,
        }

    def signatures(self):
        # Nothing here needs AutoGraph; without it tracing takes a third of the
        # time.
        @tf.function(input_signature=[ANY_TEXTS, ANY_TEXTS], autograph=False)
        def serving_text(question, context):
            return self.answer(question, context)

        return {**super().signatures(), "serving_text": serving_text}

    def answer(self, questions, contexts):
        """Answers questions from contexts, string [B] both: see the class.

        Raises:
          InvalidArgumentError: there are not as many contexts as questions, or
            a logit is not finite.
        """
        tf.debugging.assert_equal(
            tf.size(questions),
            tf.size(contexts),
            "There must be as many questions as contexts.",
        )
        windows, spans = self._read(questions, contexts)
        logits = self._run_windows(windows.inputs)
        num_questions = tf.size(questions)
        candidates = graph_answers.choose(
            windows,
            *logits,
            n_best_size=self.n_best_size,
            max_answer_length=self.max_answer_length,
        )
        found = graph_answers.find_texts(
            candidates, spans, num_questions, self.n_best_size
        )
        null_scores = None
        if self.version_2_with_negative:
            null_scores = graph_answers.null_scores(
                windows, *logits, num_questions
            )
        return graph_answers.best_answers(
            found,
            num_questions,
            self.n_best_size,
            null_scores=null_scores,
            threshold=self.null_score_diff_threshold,
        )

    def _read(self, questions, contexts):
        """Returns the Windows and the Spans that candidates are found in."""
        # Questions and contexts are tokenized in one go: a second call would
        # take nearly as long again.
        texts = tf.concat([questions, contexts], axis=0)
        pieces, letters = self.tokenizer.tokenize_with_letters(texts)
        num_questions = tf.size(questions)
        question_ids = pieces.ids[:num_questions]
        windows = graph_windows.cut(
            question_ids,
            pieces.ids[num_questions:],
            special_ids=self.special_ids,
            max_seq_length=self.max_seq_length,
            max_query_length=self.max_query_length,
            doc_stride=self.doc_stride,
        )
        # `Spans` counts the pieces of all texts, the questions' first.
        num_before = tf.size(question_ids.values)
        windows = windows._replace(
            first_pieces=windows.first_pieces + num_before
        )
        return windows, Spans(texts, pieces, letters, self.tokenizer.unknown_id)

    def _run_windows(self, inputs):
        """Runs the model on W windows, some at a time.

        Returns the start and the end logits, float32 [W, S] both.
        """
        num_windows = tf.shape(inputs["input_ids"])[0]

        def run(begin, start_logits, end_logits):
            end = begin + _WINDOWS_AT_A_TIME
            some = {name: value[begin:end] for name, value in inputs.items()}
            outputs = self.call_model(some)
            return (
                end,
                tf.concat([start_logits, outputs["start_logits"]], axis=0),
                tf.concat([end_logits, outputs["end_logits"]], axis=0),
            )

        rows = tf.TensorShape([None, self.max_seq_length])
        nothing = tf.zeros([0, self.max_seq_length])
        _, *logits = tf.while_loop(
            lambda begin, start_logits, end_logits: begin < num_windows,
            run,
            (0, nothing, nothing),
            shape_invariants=(tf.TensorShape([]), rows, rows),
        )
        return [tf.debugging.check_numerics(x, _DIVERGED) for x in logits]

    def samples(self):
        long = " ".join(
            f"In the year {year} it rained for {year % 30} days."
            for year in range(1500, 1500 + self.max_seq_length // 3)
        )
        rows = (
            ("When did it rain for 9 days?", long),
            ("What did the fox do?", "The quick fox jumps\nover the dog."),
            ("Who?", ""),
            ("गंगा कहाँ है?", "गंगा नदी  भारत में है। 恒河在印度。 Nàïve!"),
        )
        questions, contexts = zip(*rows)
        return {
            **super().samples(),
            "serving_text": {
                "question": as_bytes(questions),
                "context": as_bytes(contexts),
            },
        }


_DIVERGED = (
    "The logits are not finite numbers, so the model has diverged: train it "
    "anew with a lower learning rate, or export another checkpoint."
)
