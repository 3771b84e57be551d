"""The flags that several scripts share, and how a script starts and fails.

Each `define_*` is called by a script at its top; only the script's `main`
reads the values.
"""

import logging as std_logging
import math
import os
import sys
import warnings

from absl import app, flags, logging

from bert_tf.errors import UserError

# A script's --help lists the flags of the script: those defined here are its
# own as well.
flags.disclaim_key_flags()


def run(main):
    """Runs a script's `main()`, without arguments, once its flags are parsed.

    A `UserError` ends it with exit code 1 and its message alone; the traceback
    is printed with --verbosity=1. Left-over words are such an error, so that
    `--do_train True` cannot silently end the flags.
    """

    def main_without_arguments(argv):
        quiet_tensorflow()
        logging.use_absl_handler()
        logging.get_absl_handler().setFormatter(_LineFormatter())
        try:
            _refuse_leftover_words(argv[1:])
            main()
        except UserError as error:
            logging.debug("The error's origin:", exc_info=True)
            logging.flush()
            print(f"error: {error}", file=sys.stderr)
            sys.exit(1)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            sys.exit(130)

    # The default; --verbosity, once parsed, replaces it.
    logging.set_verbosity(logging.INFO)
    try:
        app.run(main_without_arguments)
    except BrokenPipeError:
        # The reader, of --help say, has seen enough. Python would complain
        # once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


class _LineFormatter(std_logging.Formatter):
    """Writes a line as `18:40:27 text`; from warnings up it says so."""

    def __init__(self):
        super().__init__("%(asctime)s %(message)s", "%H:%M:%S")

    def formatMessage(self, record):  # noqa: N802 - logging's own name
        if record.levelno >= std_logging.WARNING:
            record.message = f"{record.levelname}: {record.message}"
        return super().formatMessage(record)


def _refuse_leftover_words(words):
    if words:
        raise UserError(
            f"these words belong to no flag: {' '.join(map(repr, words))}. "
            "Write a switch as --flag, --noflag or --flag=true, join a flag "
            "and its value by =, quote values with blanks, and check that "
            "nothing follows a \\ at a line's end."
        )


def quiet_tensorflow():
    """Silences TensorFlow's start-up messages; call it before its import.

    A TF_CPP_MIN_LOG_LEVEL set by the user stays as it is.
    """
    if "TF_CPP_MIN_LOG_LEVEL" not in os.environ:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        std_logging.getLogger("tensorflow").setLevel(std_logging.WARNING)
        # Of google-api-core, which comes along, on Python 3.10.
        warnings.filterwarnings(
            "ignore",
            "You are using a (non-supported )?Python version",
            FutureWarning,
        )


def define_count(name, default, help_text, *, at_least=1):
    """Defines the flag of a whole number that TensorFlow can count to."""
    flags.DEFINE_integer(
        name,
        default,
        help_text,
        lower_bound=at_least,
        upper_bound=2**31 - 1,
    )


def define_vocabulary():
    """Defines --vocab_file and --do_lower_case."""
    flags.DEFINE_string(
        "vocab_file", None, "The WordPiece vocabulary: one piece a line."
    )
    flags.DEFINE_bool(
        "do_lower_case",
        True,
        "Lower-case the text and strip its accents: true for an uncased "
        "model, false for a cased one.",
    )


def define_bert_config():
    """Defines --bert_config_file."""
    flags.DEFINE_string(
        "bert_config_file",
        None,
        "The model's sizes: a bert_config.json. Without it, the one beside "
        "--init_checkpoint.",
    )


def define_init_checkpoint():
    """Defines --init_checkpoint, which every reader of weights has."""
    flags.DEFINE_string(
        "init_checkpoint",
        None,
        "The weights to begin from: a checkpoint's prefix, as in "
        "bert_model.ckpt; the folder of a 2018 release; a folder that "
        "training wrote; or a Hugging Face folder or its model.safetensors.",
    )


def define_fine_tuning(*, max_seq_length):
    """Defines what fine-tuning takes, whatever the task.

    The 2018 scripts differ in the default of `max_seq_length` (int).
    """
    define_bert_config()
    define_vocabulary()
    define_init_checkpoint()
    flags.DEFINE_string(
        "output_dir",
        None,
        "The folder for checkpoints, records, results and predictions. A run "
        "that finds checkpoints there goes on from the newest.",
    )
    define_count(
        "max_seq_length",
        max_seq_length,
        "Pieces of an example, [CLS] and [SEP] included. Shorter ones are "
        "padded.",
    )
    flags.DEFINE_bool("do_train", False, "Train.")
    flags.DEFINE_bool("do_predict", False, "Predict.")
    define_count(
        "train_batch_size", 32, "Examples in a training step, over all devices."
    )
    define_count("predict_batch_size", 8, "Examples in a batch of prediction.")
    _define_number("learning_rate", 5e-5, "The peak of the learning rate.")
    _define_number(
        "num_train_epochs",
        3.0,
        "How often the training set is gone through, resumed runs included.",
    )
    _define_number(
        "warmup_proportion",
        0.1,
        "The share of the steps in which the learning rate rises.",
        upper_bound=1.0,
    )


def _define_number(name, default, help_text, upper_bound=None):
    """Defines the flag of a finite number, 0 or more."""
    flags.DEFINE_float(
        name, default, help_text, lower_bound=0.0, upper_bound=upper_bound
    )
    flags.register_validator(
        name, math.isfinite, message="It must be a finite number."
    )


def define_tpu():
    """Defines the flags that choose a Cloud TPU, as in 2018."""
    flags.DEFINE_bool("use_tpu", False, "Run on a Cloud TPU.")
    flags.DEFINE_string(
        "tpu_name",
        None,
        "The TPU's name, or its grpc:// address. On a TPU VM: local.",
    )
    flags.DEFINE_string(
        "tpu_zone", None, "The TPU's zone, where it is not this machine's."
    )
    flags.DEFINE_string(
        "gcp_project",
        None,
        "The TPU's project, where it is not this machine's.",
    )
    flags.DEFINE_string(
        "master", None, "The TPU's grpc:// address, in place of --tpu_name."
    )
    define_count(
        "num_tpu_cores",
        8,
        "How many cores the TPU has; checked against what is found.",
    )


def define_training_loop():
    """Defines how training is cut into loops, logged, saved and seeded."""
    define_count(
        "save_checkpoints_steps",
        1000,
        "A checkpoint is saved every so many steps.",
    )
    define_count(
        "iterations_per_loop",
        1000,
        "At most so many steps are run on the device for each call from the "
        "host.",
    )
    define_count(
        "keep_checkpoint_max",
        5,
        "So many of the newest checkpoints are kept; 0 keeps all.",
        at_least=0,
    )
    define_count(
        "log_steps",
        100,
        "A line is logged, and TensorBoard scalars written, every so many "
        "steps.",
    )
    define_count(
        "seed",
        None,
        "Makes weights, dropout and the order of records repeatable on one "
        "machine. Drawn anew where it is not given.",
        at_least=0,
    )
