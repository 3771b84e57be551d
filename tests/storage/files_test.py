import os
import platform
import re
import subprocess
import sys
import zlib

import pytest

from bert_tf.errors import UserError
from bert_tf.storage import files


def test_expand_patterns_keeps_the_order_given_and_sorts_a_pattern(tmp_path):
    for name in ("c.txt", "b2.txt", "b1.txt"):
        (tmp_path / name).write_text("")
    patterns = f"{tmp_path}/c.txt,{tmp_path}/b*.txt"
    names = map(os.path.basename, files.expand_patterns(patterns, "input_file"))
    assert list(names) == ["c.txt", "b1.txt", "b2.txt"]


def test_expand_patterns_takes_a_path_literally_where_it_exists(tmp_path):
    odd = tmp_path / "part[1].txt"
    odd.write_text("")
    assert files.expand_patterns(str(odd), "input_file") == [str(odd)]


def test_expand_patterns_names_every_pattern_without_a_file(tmp_path):
    with pytest.raises(UserError, match="no file matches 'a.x', 'b.x'"):
        files.expand_patterns("a.x,b.x", "input_file")


@pytest.mark.parametrize("patterns", ["none*.txt", "", None, "here.txt,none"])
def test_expand_patterns_names_a_pattern_without_a_file(
    tmp_path, monkeypatch, patterns
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.txt").write_text("")
    pattern = (patterns or "").split(",")[-1]
    message = f"--input_file: no file matches '{re.escape(pattern)}'"
    with pytest.raises(UserError, match=message):
        files.expand_patterns(patterns, "input_file")


def test_expand_patterns_leaves_folders_out(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(UserError, match="no file matches"):
        files.expand_patterns(f"{tmp_path}/*.txt", "input_file")


def test_remote_paths_go_through_tensorflow(tmp_path):
    # TensorFlow's in-memory file system stands in for gs://.
    path = "ram://files_test/a.txt"
    files.write_text(path, "é\n")
    assert files.read_text(path) == "é\n"
    assert files.is_file(path)
    assert files.is_folder("ram://files_test")
    assert files.size(path) == 3
    assert files.expand_patterns("ram://files_test/*", "f") == [path]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (None, "--vocab_file must be given"),
        ("", "--vocab_file must be given"),
        (".", "--vocab_file=. is a folder"),
        ("no.txt", "--vocab_file=no.txt: there is no such file"),
    ],
)
def test_require_file_says_what_is_wrong(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        files.require_file(name, "vocab_file")


def test_two_paths_to_one_file_are_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert files.is_same("a", str(tmp_path / "link"))
    assert not files.is_same("a", "b")
    assert files.is_same("gs://b/a", "gs://b/a")
    assert not files.is_same("gs://b/a", "a")


def test_read_text_names_the_line_that_is_not_utf_8(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"one\ncaf\xe9\n")
    with pytest.raises(UserError, match=r"latin.txt, line 2: not UTF-8 .*0xE9"):
        files.read_text(str(path))


def test_read_text_names_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(UserError, match="no.txt cannot be read: No such file"):
        files.read_text(str(tmp_path / "no.txt"))


def test_read_bytes_names_a_remote_file_that_cannot_be_read():
    with pytest.raises(UserError, match="ram://none/no.txt cannot be read"):
        files.read_bytes("ram://none/no.txt")


def test_make_output_folder_makes_parents(tmp_path):
    folder = tmp_path / "a" / "b"
    files.make_output_folder(str(folder), "output_dir")
    files.make_output_folder(str(folder), "output_dir")
    assert folder.is_dir()


def test_make_output_folder_refuses_a_file_and_nothing(tmp_path):
    path = tmp_path / "a"
    path.write_text("")
    with pytest.raises(UserError, match="--output_dir: .* cannot be made"):
        files.make_output_folder(str(path), "output_dir")
    with pytest.raises(UserError, match="--output_dir must be given"):
        files.make_output_folder(None, "output_dir")


def test_make_output_folder_refuses_what_cannot_be_written(
    tmp_path, monkeypatch
):
    # For root every folder can be written, so the question is answered here.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match="--output_dir: .* cannot be written"):
        files.make_output_folder(str(tmp_path), "output_dir")


def test_replacing_keeps_the_old_file_after_a_failure(tmp_path):
    path = tmp_path / "results.txt"
    path.write_text("old")

    def fail_half_way():
        with files.replacing(str(path)) as beside, open(beside, "w") as stream:
            stream.write("half")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail_half_way()
    assert os.listdir(tmp_path) == ["results.txt"]
    assert path.read_text() == "old"


def test_write_text_replaces_the_old_file(tmp_path):
    path = tmp_path / "results.txt"
    path.write_text("old")
    files.write_text(str(path), "new\n")
    assert path.read_bytes() == b"new\n"
    assert os.listdir(tmp_path) == ["results.txt"]


def test_replacing_follows_a_link_and_hides_from_globs(tmp_path):
    target = tmp_path / "real.txt"
    target.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    with files.replacing(str(link)) as beside:
        with open(beside, "w") as stream:
            stream.write("new")
        found = files.expand_patterns(f"{tmp_path}/*", "f")
        assert found == [str(link), str(target)]
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_processes_do_not_share_an_unfinished_file(tmp_path, monkeypatch):
    path = str(tmp_path / "records")
    with files.replacing(path) as beside, monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 1)
        with files.replacing(path) as beside_of_other:
            fill(beside_of_other, "other")
        assert beside_of_other != beside
        patch.setattr("platform.node", lambda: "elsewhere")
        with files.replacing(path) as beside_of_third:
            fill(beside_of_third, "third")
        assert beside_of_third not in (beside, beside_of_other)
        fill(beside, "own")
    assert (tmp_path / "records").read_text() == "own"
    assert os.listdir(tmp_path) == ["records"]


def fill(path, text):
    with open(path, "w") as stream:
        stream.write(text)


def test_what_a_killed_process_left_is_removed_and_a_live_one_s_is_not(
    tmp_path,
):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = platform.node()
    left = tmp_path / f".a.{host}.{ended.pid}.incomplete"
    others = [
        # Process 1 is always there.
        tmp_path / f".a.{host}.1.incomplete",
        tmp_path / f".a.not{host}.{ended.pid}.incomplete",
        tmp_path / f".ab.{host}.{ended.pid}.incomplete",
    ]
    for path in (left, *others):
        path.write_text("half")
    files.write_text(str(tmp_path / "a"), "")
    assert not left.exists()
    assert all(path.exists() for path in others)


def test_checksum_is_that_of_the_whole_content(tmp_path):
    path = tmp_path / "a"
    # The check value that CRC-32 is published with.
    path.write_bytes(b"123456789")
    assert files.checksum(str(path)) == 0xCBF43926
    content = b"123456789" * 300_000  # in more than one piece
    path.write_bytes(content)
    assert files.checksum(str(path)) == zlib.crc32(content)
    with pytest.raises(UserError, match="b cannot be read"):
        files.checksum(str(tmp_path / "b"))


def test_write_text_names_what_cannot_be_written(tmp_path):
    with pytest.raises(UserError, match="a/b.txt cannot be written: No such"):
        files.write_text(str(tmp_path / "a" / "b.txt"), "")


def test_expand_patterns_says_that_a_folder_is_one(tmp_path):
    message = f"--input_file={tmp_path} is a folder; .* '{tmp_path}/\\*'"
    with pytest.raises(UserError, match=message):
        files.expand_patterns(str(tmp_path), "input_file")


@pytest.mark.parametrize(
    "ask",
    [
        lambda path: files.require_file(path, "f"),
        lambda path: files.expand_patterns(path, "f"),
        lambda path: files.make_output_folder(path, "f"),
    ],
)
def test_an_unknown_file_system_is_told(ask):
    with pytest.raises(UserError, match="nosuch://a/b.txt cannot be used"):
        ask("nosuch://a/b.txt")


def test_require_rereadable_refuses_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    plain = tmp_path / "plain"
    plain.write_text("")
    files.require_rereadable([str(plain), "ram://a/b"], "input_file")
    with pytest.raises(UserError, match="--input_file: .*pipe is no plain"):
        files.require_rereadable([str(pipe)], "input_file")


def test_a_remote_file_that_cannot_be_written_is_named():
    path = "nosuch://a/b.txt"
    with pytest.raises(UserError, match=f"^{path} cannot be written: "):
        files.write_text(path, "the text, which is no path")
