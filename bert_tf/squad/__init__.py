"""Questions and contexts to windows, and logits to answers and scores.

In: a JSON file; logits of each window. Out: records; 2018's files of answers.
May import: `data` and below. No TensorFlow before records are written.

Read `examples`, `windows`, `converter`; `candidates`, `final_text`,
`nbest_file`, `answers`, `scores`; then the same inside a graph:
`graph_windows`, `graph_spans`, `graph_answers`.
"""
