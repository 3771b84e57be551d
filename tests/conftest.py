"""Fixtures of all tests."""

import os
import pathlib

# Before any test imports TensorFlow: its start-up messages are not ours.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import pytest

TESTDATA = pathlib.Path(__file__).parent / "testdata"
SHARED = pathlib.Path(__file__).parents[2] / "shared"


@pytest.fixture
def testdata():
    """The folder of small files written for these tests."""
    return TESTDATA


@pytest.fixture
def golden():
    """The folder of what the 2018 code gave, as far as it is copied here."""
    return TESTDATA / "golden"


@pytest.fixture
def shared_file():
    """Finds a file too large, or not free, to be copied here; else skips."""

    def find(path):
        if not (SHARED / path).exists():
            pytest.skip(f"{path} is not on this machine")
        return SHARED / path

    return find
