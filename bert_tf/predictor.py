"""The predictor, by the name that a command line gives it.

python -m bert_tf.predictor --model=out/export < lines.txt > answers.jsonl
"""

from bert_tf.cli import predictor_command

if __name__ == "__main__":
    predictor_command.run()
