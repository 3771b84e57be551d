"""What run_pretraining.py finds out from its flags, before TensorFlow.

Functions take the script's flags as an absl FlagValues. What is refused is a
UserError that names the flag, or the file and place.
"""

import dataclasses

from bert_tf.cli import checks, export_flags
from bert_tf.config import BertConfig
from bert_tf.storage import files
from bert_tf.weights import model_choice, model_folder, weights_path


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inputs:
    """What the flags name, checked.

    `paths`: list of str, the files of records, empty if none is needed.
    `vocab_file`: str, `do_lower_case`: bool, by which an export takes texts;
    None without one.
    """

    config: BertConfig
    paths: list
    vocab_file: str | None
    do_lower_case: bool | None


def check(flags):
    """Finds what is wrong with the flags; returns the Inputs."""
    values = flags.flag_values_dict()
    checks.require_job(values, ("do_train", "do_eval", "do_export"))
    export_flags.check(flags.do_export, flags.export_dir)
    checks.check_pairs(
        values,
        needs=[("do_train", "input_file"), ("do_eval", "input_file")],
        idle_without=[("vocab_file", "do_export")],
    )
    checks.check_tpu(flags.use_tpu, flags.tpu_name, flags.master)
    checkpoint = weights_path.find_weights(
        flags.output_dir, flags.init_checkpoint
    )
    config, config_file = model_folder.choose_config(
        flags.bert_config_file, checkpoint
    )
    model_choice.check_sequence_length(
        flags.max_seq_length, config, config_file
    )
    paths = []
    if flags.do_train or flags.do_eval:
        paths = files.expand_patterns(flags.input_file, "input_file")
        files.require_rereadable(paths, "input_file")
    vocab_file = do_lower_case = None
    if flags.do_export:
        vocab_file, do_lower_case = model_choice.choose_vocabulary(
            values,
            checkpoint,
            config,
            config_file,
            is_case_given=flags["do_lower_case"].present,
        )
    files.make_output_folder(flags.output_dir, "output_dir")
    return Inputs(
        config=config,
        paths=paths,
        vocab_file=vocab_file,
        do_lower_case=do_lower_case,
    )


def export(job, flags, inputs):
    """Writes a SavedModel of a PretrainingJob, as the flags say."""
    from bert_tf.serving import export
    from bert_tf.serving.masked_lm import ServedMaskedLM

    served = ServedMaskedLM(
        export.trained_model(job),
        job.config,
        max_seq_length=flags.max_seq_length,
        vocab_file=inputs.vocab_file,
        do_lower_case=inputs.do_lower_case,
    )
    export.export(served, flags.export_dir, verify=flags.verify_export)
