"""How a script starts and fails, seen from outside: by its own process."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).parents[2]

SCRIPT = """
import os, signal, sys, time

# A process that was started in the background may be deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

from absl import flags, logging
from bert_tf.cli import common_flags
from bert_tf.errors import UserError

flags.DEFINE_string("fail", None, "How to end.")
common_flags.define_vocabulary()
common_flags.define_tpu()
common_flags.define_training_loop()

def main():
    logging.info("an info")
    logging.warning("a warning")
    how = flags.FLAGS.fail
    if how == "user":
        raise UserError("--fail=user is a mistake.")
    if how == "bug":
        raise RuntimeError("a bug")
    if how == "wait":
        print("waiting", flush=True)
        time.sleep(60)
    print(os.environ["TF_CPP_MIN_LOG_LEVEL"])

common_flags.run(main)
"""


@pytest.fixture
def start(tmp_path):
    """Starts the script above; returns its process."""
    (tmp_path / "script.py").write_text(SCRIPT)

    def start_script(*words, **environment):
        inherited = dict(os.environ)
        inherited.pop("TF_CPP_MIN_LOG_LEVEL", None)
        return subprocess.Popen(
            [sys.executable, str(tmp_path / "script.py"), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**inherited, "PYTHONPATH": str(ROOT), **environment},
        )

    return start_script


@pytest.fixture
def run(start):
    """Runs the script; returns (exit code, stdout, stderr)."""

    def run_script(*words, **environment):
        process = start(*words, **environment)
        out, err = process.communicate()
        return process.returncode, out, err

    return run_script


def test_lines_have_the_time_and_warnings_say_so(run):
    code, _, err = run()
    assert code == 0
    info, warning = err.splitlines()
    assert info[2] == info[5] == ":"
    assert info[8:] == " an info"
    assert warning[8:] == " WARNING: a warning"


def test_a_users_mistake_is_one_line(run):
    code, _, err = run("--fail=user", "--verbosity=-2")
    assert (code, err) == (1, "error: --fail=user is a mistake.\n")


def test_verbosity_adds_where_a_mistake_was_found(run):
    code, _, err = run("--fail=user", "--verbosity=1")
    assert code == 1
    assert "Traceback" in err
    assert err.endswith("error: --fail=user is a mistake.\n")


def test_a_bug_keeps_its_traceback(run):
    code, _, err = run("--fail=bug")
    assert code != 0
    assert "RuntimeError: a bug" in err


def test_verbosity_leaves_warnings_alone(run):
    _, _, err = run("--verbosity=-1")
    assert [line[8:] for line in err.splitlines()] == [" WARNING: a warning"]


def test_left_over_words_are_quoted(run):
    code, _, err = run("--do_lower_case", "True", "\\", "x y")
    assert code == 1
    assert "these words belong to no flag: 'True' '\\\\' 'x y'" in err


def test_an_unknown_flag_is_named_with_its_neighbour(run):
    code, _, err = run("--do_lower_cas=true")
    assert code == 1
    assert "Unknown command line flag 'do_lower_cas'" in err
    assert "Did you mean: do_lower_case" in err


def test_tensorflow_is_silenced_unless_asked_for(run):
    assert run()[1] == "3\n"
    assert run(TF_CPP_MIN_LOG_LEVEL="0")[1] == "0\n"


def test_ctrl_c_ends_without_a_traceback(start):
    process = start("--fail=wait")
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.endswith("interrupted\n")
    assert "Traceback" not in err


def test_help_lists_the_shared_flags_and_may_be_cut_off(start):
    process = start("--help")
    assert "--vocab_file" in process.stdout.read()
    process.communicate()
    # `--help | head -1`: the reader goes away. Give it time to.
    process = start("--help")
    process.stdout.close()
    time.sleep(0.5)
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait()
