"""Runs an export on stored inputs and compares: for a process of its own.

    python -m bert_tf.serving.verify_export FOLDER COMPARED.npz

Nothing of bert_tf is imported: what serves an export has none of it either.
The file holds arrays SIGNATURE/input/NAME and SIGNATURE/output/NAME; each
string in it has a full stop added at its end.
"""

import sys

import numpy as np
import tensorflow as tf

# The operations are the same, but compiled a second time.
TOLERANCE = 1e-4


def compare(folder, path):
    """Runs an export (folder, str) on what a file (path, str) holds.

    Returns:
      (list of str, float): what differs, one line each; and the largest
      difference of a number.
    """
    signatures = tf.saved_model.load(folder).signatures
    stored = {}
    with np.load(path, allow_pickle=False) as arrays:
        for key, value in arrays.items():
            signature, kind, name = key.split("/")
            stored.setdefault(signature, {}).setdefault(kind, {})[name] = value
    wrong, largest = [], 0.0
    for signature, kinds in stored.items():
        inputs = {k: _as_tensor(v) for k, v in kinds["input"].items()}
        outputs = signatures[signature](**inputs)
        for name, expected in kinds["output"].items():
            difference = _difference(outputs[name].numpy(), expected)
            if not difference <= TOLERANCE:
                wrong.append(f"{signature}, {name}: differs by {difference}")
            else:
                largest = max(largest, difference)
    return wrong, largest


def _as_tensor(array):
    if array.dtype.kind == "S":
        return tf.strings.regex_replace(tf.constant(array), r"\.\z", "")
    return tf.constant(array)


def _difference(actual, expected):
    if actual.shape != expected.shape:
        return np.inf
    if expected.dtype.kind == "S":
        return 0.0 if (actual + b"." == expected).all() else np.inf
    return float(np.abs(actual - expected).max(initial=0))


def main(folder, path):
    """Prints what differs, or that nothing does; returns the exit code."""
    wrong, largest = compare(folder, path)
    if wrong:
        print("\n".join(wrong))
        return 1
    print(
        "The export, loaded in a new process, gives the same; the largest "
        f"difference of a number is {largest:.1e}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
