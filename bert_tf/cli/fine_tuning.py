"""Training as run_classifier.py and run_squad.py do it alike."""

import os

from bert_tf.training import training_loop
from bert_tf.training.best_weights import BestKeeper
from bert_tf.weights import model_folder


class FineTuningRun:
    """One run of a fine-tuning script, in its output folder.

    A subclass has `job`, a training.job.Job, and `conversion`, what examples
    become records by; `best_by`, the result that tells the best weights; and

        training_records(examples)    makes the file; returns RecordFiles
        write_companions(folder)      what goes with the weights
        digest(inputs)                a str that tells what is evaluated on
        new_evaluation(flags, inputs) makes its records, once; returns the
                                      function that evaluates and gives a dict
    """

    def train(self, flags, inputs):
        """Trains as flags (FlagValues) say, on the Inputs that a script read.

        The model then has the best weights, if they are looked for.
        """
        num_train_steps = inputs.num_train_steps
        settings = training_loop.LoopSettings.from_flags(
            flags, num_train_steps, watch_steps=flags.eval_steps
        )
        schedule = training_loop.Schedule.from_epochs(flags, num_train_steps)
        best = None
        if flags.eval_steps:
            best = BestKeeper(
                flags.output_dir,
                measure=self.best_by,
                eval_steps=flags.eval_steps,
                patience=flags.early_stopping_patience,
                evaluated=self.digest(inputs),
            )
        # What is refused leaves the folder as it is.
        self.job.check_run(settings, schedule)
        if best:
            best.refuse_stopped_run()
            evaluate = self.new_evaluation(flags, inputs)
            self.write_companions(best.folder)
        records = self.training_records(inputs.train)
        self.write_companions(self.job.output_dir)

        def watch(step):
            return best.update(step, self.job, evaluate())

        self.job.train(
            records, settings, schedule, watch=watch if best else None
        )
        if best:
            best.restore(self.job)

    def write_companions(self, folder):
        """Leaves vocabulary, letter case and length in a folder (str)."""
        os.makedirs(folder, exist_ok=True)
        model_folder.write_vocabulary(
            folder,
            self.conversion.vocab_file,
            self.conversion.do_lower_case,
            self.conversion.max_seq_length,
        )
