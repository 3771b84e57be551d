#!/usr/bin/env python3
r"""Fine-tunes BERT to answer questions: SQuAD 1.1, 2.0, or your own.

On the sample in this repository, after run_pretraining.py:

    python run_squad.py \
        --train_file=tests/testdata/squad/train.json \
        --predict_file=tests/testdata/squad/dev.json \
        --init_checkpoint=demo_output/model \
        --vocab_file=tests/testdata/vocab.txt \
        --output_dir=demo_output/squad \
        --do_train --do_predict \
        --max_seq_length=64 --max_query_length=16 --doc_stride=16 \
        --train_batch_size=8 --learning_rate=1e-3 --num_train_epochs=10 --seed=1

The flags are those of 2018 and more. Weights come from the newest checkpoint in
--output_dir, else from --init_checkpoint, else from chance.
"""

import dataclasses
import os
import random

from absl import flags, logging

from bert_tf.cli import checks, common_flags, export_flags, squad_switches
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.squad import examples, scores
from bert_tf.squad.converter import Conversion
from bert_tf.storage import files
from bert_tf.storage.results import write_results
from bert_tf.weights import model_choice, model_folder

FLAGS = flags.FLAGS

# 2018's order of training examples.
_SHUFFLE_SEED = 12345

flags.DEFINE_string(
    "train_file", None, "The questions to train on, in SQuAD's JSON."
)
flags.DEFINE_string(
    "predict_file", None, "The questions to answer, in SQuAD's JSON."
)
common_flags.define_fine_tuning(max_seq_length=384)
common_flags.define_count(
    "doc_stride",
    128,
    "Pieces from the start of one window of a long context to the next one's.",
)
common_flags.define_count(
    "max_query_length", 64, "Pieces of a question; the rest is cut off."
)
common_flags.define_count(
    "n_best_size", 20, "So many answers a question in nbest_predictions.json."
)
common_flags.define_count(
    "max_answer_length", 30, "The most pieces that an answer has."
)
flags.DEFINE_bool(
    "version_2_with_negative",
    False,
    "A question may have no answer, as in SQuAD 2.0.",
)
flags.DEFINE_string(
    "null_score_diff_threshold",
    "0.0",
    "Version 2: no answer is given where its score is higher by more than "
    "this; auto for the threshold with the best F1, if answers are known.",
)
flags.DEFINE_bool(
    "verbose_logging", False, "Log answers whose words could not be traced."
)
flags.DEFINE_bool(
    "do_eval",
    False,
    "Score predictions: --predictions_file, or else those of the model. "
    "--do_predict does so too where --predict_file has answers.",
)
flags.DEFINE_string(
    "predictions_file",
    None,
    "With --do_eval: a predictions.json to score, without any model.",
)
flags.DEFINE_string(
    "null_odds_file",
    None,
    "With --predictions_file, version 2: its null_odds.json, for the best "
    "thresholds.",
)
flags.DEFINE_bool(
    "output_answer_offsets",
    False,
    "Also write answers.json: each answer's text, first character in the "
    "context, and probability, and that of no answer.",
)
common_flags.define_count(
    "eval_steps",
    None,
    "Answer --predict_file every so many training steps as well, and keep the "
    "weights with the best F1 in --output_dir/best, for this command's "
    "predictions.",
)
common_flags.define_count(
    "early_stopping_patience",
    None,
    "With --eval_steps: end after so many evaluations in a row no better.",
)
export_flags.define()
common_flags.define_training_loop()
common_flags.define_tpu()


@dataclasses.dataclass
class Inputs:
    """What the flags name, read and checked."""

    config: BertConfig
    conversion: Conversion
    train: list  # of SquadExample
    num_train_steps: int
    predict: list  # of SquadExample
    dataset: list | None  # the articles of `predict`, if they have answers


def check_flags():
    """Finds what is wrong with flags and data, before TensorFlow is imported.

    Returns:
      Inputs.

    Raises:
      UserError: names the flag, or the file and place.
    """
    squad_switches.check(FLAGS.flag_values_dict())
    _threshold()
    model = model_choice.choose_model(
        FLAGS.flag_values_dict(), is_case_given=FLAGS["do_lower_case"].present
    )
    conversion = Conversion(
        vocab_file=model.vocab_file,
        do_lower_case=model.do_lower_case,
        max_seq_length=FLAGS.max_seq_length,
        doc_stride=FLAGS.doc_stride,
        max_query_length=FLAGS.max_query_length,
    )
    for folder in model.folders(FLAGS.output_dir, to_train=FLAGS.do_train):
        model_folder.require_same_vocabulary(folder, model.vocab_file)
    train_examples, num_train_steps = _read_train()
    predict_examples, dataset = _read_predict()
    return Inputs(
        config=model.config,
        conversion=conversion,
        train=train_examples,
        num_train_steps=num_train_steps,
        predict=predict_examples,
        dataset=dataset,
    )


def _threshold():
    """Returns --null_score_diff_threshold as float or AUTO."""
    return scores.parse_threshold(
        FLAGS.null_score_diff_threshold, FLAGS.version_2_with_negative
    )


def _read_train():
    """Returns the training examples and how many steps they are gone through.

    Source: the order is that of `main` in run_squad.py (2018).
    """
    if not FLAGS.do_train:
        return [], 0
    read = examples.read_squad_examples(
        FLAGS.train_file,
        is_training=True,
        version_2_with_negative=FLAGS.version_2_with_negative,
    )
    num_train_steps = checks.count_steps(
        len(read),
        num_train_epochs=FLAGS.num_train_epochs,
        train_batch_size=FLAGS.train_batch_size,
    )
    random.Random(_SHUFFLE_SEED).shuffle(read)
    return read, num_train_steps


def _read_predict():
    """Returns the examples to answer and the articles, if with answers."""
    if not (FLAGS.do_predict or FLAGS.do_eval or FLAGS.eval_steps):
        return [], None
    dataset = examples.read_dataset(FLAGS.predict_file)
    read = examples.make_examples(
        dataset, FLAGS.predict_file, is_training=False
    )
    return read, _with_answers(dataset)


def _with_answers(dataset):
    """Returns the articles, or None if they have no answers to score by."""
    reason = scores.reason_not_to_score(dataset, FLAGS.version_2_with_negative)
    if reason is None:
        return dataset
    wanted = [flag for flag in ("do_eval", "eval_steps") if FLAGS[flag].value]
    if _threshold() == scores.AUTO:
        wanted.append(f"null_score_diff_threshold={scores.AUTO}")
    if wanted:
        raise UserError(
            f"--{wanted[0]} needs answers to compare with, but in "
            f"--predict_file={FLAGS.predict_file} {reason}."
        )
    return None


def score_predictions():
    """Scores --predictions_file: no model, no vocabulary, no TensorFlow."""
    dataset = _with_answers(examples.read_dataset(FLAGS.predict_file))
    measured = scores.score_files(
        dataset,
        FLAGS.predictions_file,
        version_2_with_negative=FLAGS.version_2_with_negative,
        null_odds_file=FLAGS.null_odds_file,
    )
    folder = os.path.dirname(FLAGS.predictions_file)
    if FLAGS.output_dir:
        folder = FLAGS.output_dir
        files.make_output_folder(folder, "output_dir")
    write_results(os.path.join(folder, "eval_results.txt"), measured)


def make_files(inputs):
    """Returns the SquadFiles of what the flags name."""
    from bert_tf.cli import squad_files
    from bert_tf.training import distribution, question_answering

    address = distribution.TpuAddress.from_flags(FLAGS.flag_values_dict())
    job = question_answering.Job(
        config=inputs.config,
        max_seq_length=FLAGS.max_seq_length,
        output_dir=FLAGS.output_dir,
        strategy=distribution.build_strategy(address),
        use_one_hot_embeddings=FLAGS.use_tpu,
        init_checkpoint=FLAGS.init_checkpoint,
        keep_checkpoint_max=FLAGS.keep_checkpoint_max,
        seed=FLAGS.seed,
    )
    job.check_head(to_train=FLAGS.do_train)
    options = squad_files.AnswerOptions(
        n_best_size=FLAGS.n_best_size,
        max_answer_length=FLAGS.max_answer_length,
        version_2_with_negative=FLAGS.version_2_with_negative,
        null_score_diff_threshold=_threshold(),
        output_answer_offsets=FLAGS.output_answer_offsets,
    )
    return squad_files.SquadFiles(
        job=job,
        conversion=inputs.conversion,
        options=options,
        fills_batches=FLAGS.use_tpu,
    )


def train(squad, inputs):
    from bert_tf.training import training_loop
    from bert_tf.training.best_weights import BestKeeper

    values = FLAGS.flag_values_dict()
    settings = training_loop.LoopSettings.from_flags(
        values,
        num_train_steps=inputs.num_train_steps,
        watch_steps=FLAGS.eval_steps,
    )
    schedule = training_loop.Schedule.from_epochs(
        values, inputs.num_train_steps
    )
    if not FLAGS.eval_steps:
        squad.train(inputs.train, settings, schedule)
        return
    best = BestKeeper(
        FLAGS.output_dir,
        measure="f1",
        eval_steps=FLAGS.eval_steps,
        patience=FLAGS.early_stopping_patience,
        evaluated=squad.digest(inputs.dataset),
    )
    evaluated = inputs.predict, inputs.dataset, FLAGS.predict_batch_size
    best.train(squad, inputs.train, settings, schedule, *evaluated)


def export_model(squad, threshold):
    from bert_tf.serving import export
    from bert_tf.serving.question_answering import QuestionAnswering

    conversion, options = squad.conversion, squad.options
    served = QuestionAnswering(
        export.trained_model(squad.job),
        squad.job.config,
        vocab_file=conversion.vocab_file,
        do_lower_case=conversion.do_lower_case,
        max_seq_length=conversion.max_seq_length,
        max_query_length=conversion.max_query_length,
        doc_stride=conversion.doc_stride,
        n_best_size=options.n_best_size,
        max_answer_length=options.max_answer_length,
        version_2_with_negative=options.version_2_with_negative,
        null_score_diff_threshold=threshold,
    )
    export.export(served, FLAGS.export_dir, verify=FLAGS.verify_export)


def main():
    if FLAGS.verbose_logging:
        logging.set_verbosity(logging.DEBUG)
    if FLAGS.do_eval and FLAGS.predictions_file:
        squad_switches.check(FLAGS.flag_values_dict())
        score_predictions()
        return
    inputs = check_flags()
    # From here on and not above: TensorFlow takes seconds to import, and a
    # wrong flag or file should be told at once.
    squad = make_files(inputs)
    if FLAGS.do_train:
        train(squad, inputs)
    threshold = _threshold()
    if FLAGS.do_predict or FLAGS.do_eval:
        threshold = squad.predict(
            inputs.predict, inputs.dataset, FLAGS.predict_batch_size
        )
    if FLAGS.do_export:
        export_model(squad, threshold)


if __name__ == "__main__":
    common_flags.run(main)
