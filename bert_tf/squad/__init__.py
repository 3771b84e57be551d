"""The data of SQuAD: questions with their contexts in, answers out.

In the order of the data: `examples` (a JSON file to questions), `windows` (a
context cut into windows beside a question), `converter` (windows to records),
`candidates` (logits to spans), `final_text` (a span to the words of the
context), `answers` (files of predictions), and `scores`.

Nothing in this package needs TensorFlow until records are written.
"""
