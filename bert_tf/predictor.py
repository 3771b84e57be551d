"""The predictor, and the command of its name.

python -m bert_tf.predictor --model=out/export < lines.txt > answers.jsonl
"""

from bert_tf.cli import predictor_command
from bert_tf.serving.predictor import Predictor

__all__ = ["Predictor"]

if __name__ == "__main__":
    predictor_command.run()
