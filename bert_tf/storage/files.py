"""Opening, listing and publishing files, local or remote (gs://).

TensorFlow's file system is imported only for a remote path, so that a wrong
local path is reported before TensorFlow has started.
"""

import contextlib
import glob
import os
import platform
import zlib

from bert_tf.errors import UserError


def is_remote(path):
    """Tells whether a path (str or os.PathLike) needs TensorFlow's files."""
    return "://" in os.fspath(path)


def _gfile():
    import tensorflow as tf  # Deferred: see the top of this file.

    return tf.io.gfile


@contextlib.contextmanager
def naming_failures(path, verb):
    """Turns a failure of the file system into a UserError.

    The message is "<path> cannot be <verb>: ...", both str.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"{path} cannot be {verb}: {reason}.") from error
    except Exception as error:
        if not is_remote(path):
            raise
        # TensorFlow's file system has errors of its own.
        import tensorflow as tf

        if not isinstance(error, tf.errors.OpError):
            raise
        raise UserError(f"{path} cannot be {verb}: {error.message}.") from error


def is_file(path):
    """Tells whether `path` is an existing file."""
    if is_remote(path):
        with naming_failures(path, "used"):
            return _gfile().exists(path) and not _gfile().isdir(path)
    return _is_local_file(path)


def _is_local_file(path):
    # A pipe, as in --input_file=<(zcat text.gz), is as good as a file.
    return os.path.exists(path) and not os.path.isdir(path)


def is_folder(path):
    """Tells whether `path` is an existing folder."""
    if is_remote(path):
        with naming_failures(path, "used"):
            return _gfile().isdir(path)
    return os.path.isdir(path)


def is_same(one, other):
    """Tells whether two paths (str) lead to one file."""
    if is_remote(one) or is_remote(other):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)


def require_file(path, flag):
    """Checks that the file which a flag (str, without dashes) names is there.

    Raises:
      UserError: `path` is None or empty, names no file, or names a folder.
    """
    if not path:
        raise UserError(f"--{flag} must be given.")
    if is_folder(path):
        raise UserError(f"--{flag}={path} is a folder; name the file in it.")
    if not is_file(path):
        raise UserError(f"--{flag}={path}: there is no such file.")


def open_binary(path, mode="rb"):
    """Opens `path` for reading bytes, or, "wb", for writing; to be closed."""
    return _gfile().GFile(path, mode) if is_remote(path) else open(path, mode)


def read_bytes(path):
    """Reads a whole file; returns bytes. A UserError if that fails."""
    with naming_failures(path, "read"), open_binary(path) as stream:
        return stream.read()


def read_text(path):
    """Reads a whole UTF-8 file, less a byte-order mark; line ends are kept.

    Raises:
      UserError: it cannot be read, or is not UTF-8 (names the line).
    """
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path}, line {line}: not UTF-8 (byte "
            f"0x{content[error.start]:02X}). Convert the file to UTF-8."
        ) from error


def expand_patterns(patterns, flag):
    """Lists the files that a comma-separated list of paths and globs names.

    `patterns` is as in "a.txt,more/*.txt"; messages name `flag`, without
    dashes.

    Returns:
      list of str: patterns in the order given, files of one pattern sorted.

    Raises:
      UserError: nothing given, or patterns that match no file, each named.

    Source: the loop over `tf.gfile.Glob` in the 2018 scripts, which went on
      without a word where a pattern matched nothing.
    """
    matches = [
        (pattern, _matches(pattern) if pattern else [])
        for pattern in (patterns or "").split(",")
    ]
    unmatched = [repr(pattern) for pattern, paths in matches if not paths]
    if len(matches) == 1 and patterns and is_folder(patterns):
        raise UserError(
            f"--{flag}={patterns} is a folder; name files in it, as in "
            f"'{patterns.rstrip('/')}/*'."
        )
    if unmatched:
        raise UserError(
            f"--{flag}: no file matches {', '.join(unmatched)}. Check the "
            "path, and quote it if it holds blanks or a * for this program to "
            "expand."
        )
    return [path for _, paths in matches for path in paths]


def _matches(pattern):
    if is_remote(pattern):
        with naming_failures(pattern, "used"):
            return sorted(_gfile().glob(pattern))
    # A path that exists is meant literally, even with [ or * in its name.
    if _is_local_file(pattern):
        return [pattern]
    return sorted(path for path in glob.glob(pattern) if _is_local_file(path))


def require_rereadable(paths, flag):
    """Checks that a flag's files (list of str) are no pipes.

    Raises:
      UserError: one cannot be opened more than once.
    """
    for path in paths:
        if not is_remote(path) and not os.path.isfile(path):
            raise UserError(
                f"--{flag}: {path} is no plain file. It is read several times, "
                "which a pipe does not allow; write it to a file first."
            )


def make_output_folder(path, flag):
    """Creates the folder that a flag names, with its parents.

    Raises:
      UserError: `path` is None or empty, a file has that name, or the folder
        may not be written.
    """
    if not path:
        raise UserError(f"--{flag} must be given.")
    if is_remote(path):
        with naming_failures(path, "used"):
            _gfile().makedirs(path)
        return
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"--{flag}: the folder {path!r} cannot be made: {error.strerror}."
        ) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise UserError(f"--{flag}: the folder {path!r} cannot be written.")


@contextlib.contextmanager
def replacing(path):
    """Gives a path to write; on success it becomes `path` in one step.

    The target of a symbolic link is replaced.

    Yields:
      str, a name beside it that no glob matches and no other process takes.
      After an exception it is removed, and what stood at `path` before is
      untouched.
    """
    if not is_remote(path):
        path = os.path.realpath(path)
        remove_abandoned(_incomplete(path), os.remove)
    beside = f"{_incomplete(path)}{os.getpid()}{_INCOMPLETE}"
    try:
        yield beside
    except BaseException:
        # Any error of removing would hide the one that matters.
        with contextlib.suppress(Exception):
            (_gfile().remove if is_remote(path) else os.remove)(beside)
        raise
    if is_remote(path):
        _gfile().rename(beside, path, overwrite=True)
    else:
        os.replace(beside, path)


_INCOMPLETE = ".incomplete"


def _incomplete(path):
    """Returns how this machine's names of an unfinished file begin.

    The process number that follows is not enough: another machine, or
    container, may write into the same folder.
    """
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{platform.node()}.")


def remove_abandoned(start, remove):
    """Removes what killed processes of this machine left unfinished.

    `start` is how the path begins; the number of the process and ".incomplete"
    follow. `remove` is a function of a path.
    """
    for left in glob.glob(f"{glob.escape(start)}*{_INCOMPLETE}"):
        process = left[len(start) : -len(_INCOMPLETE)]
        if process.isdecimal() and not _is_running(int(process)):
            with contextlib.suppress(OSError):
                remove(left)


def _is_running(process):
    """Tells whether a process of this machine (int, its number) runs."""
    # Only on POSIX does signal 0 ask without being sent.
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # It runs, as another user.
    return True


def write_text(path, text):
    """Writes `text` (str) as UTF-8, all or nothing; a UserError if it fails."""
    write_bytes(path, text.encode())


def write_bytes(path, content):
    """Writes bytes, all or nothing; a UserError if that fails."""
    with (
        naming_failures(path, "written"),
        replacing(path) as beside,
        open_binary(beside, "wb") as stream,
    ):
        stream.write(content)


def list_folder(path):
    """Lists the names (str) in a local folder ("": the current one), sorted."""
    with naming_failures(path, "listed"):
        return sorted(os.listdir(path or "."))


def size(path):
    """Returns a file's size (int, bytes)."""
    if is_remote(path):
        return _gfile().stat(path).length
    return os.path.getsize(path)


def checksum(path):
    """Returns the CRC-32 (int) of a file, which may be large."""
    value = 0
    with naming_failures(path, "read"), open_binary(path) as stream:
        while piece := stream.read(2**20):
            value = zlib.crc32(piece, value)
    return value
