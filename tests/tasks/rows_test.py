"""Files of rows: what a row is, and where a bad one is told to be."""

import csv

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks import rows


@pytest.fixture
def write(tmp_path):
    """Gives a function that writes bytes to a file and returns its path."""

    def write_bytes(content, name="train.tsv"):
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return write_bytes


def test_read_tsv_splits_at_tabs_and_counts_lines(write):
    path = write(b"a\tb b\t\nc\t\td\n")
    read = rows.read_tsv(path)
    assert read == [["a", "b b", ""], ["c", "", "d"]]
    assert [row.line_number for row in read] == [1, 2]
    assert read[1].place == f"{path}, line 2"


@pytest.mark.parametrize(
    "content",
    [
        b"a\tb\nc\td\n",
        b"a\tb\nc\td",
        b"a\tb\r\nc\td\r\n",
        b"\xef\xbb\xbfa\tb\nc\td\n",
        b"a\tb\nc\td\n\n",
        b"a\tb\nc\td\n\n \r\n\n",
    ],
    ids=["lf", "no-last-lf", "crlf", "bom", "blank-end", "blanks-end"],
)
def test_read_tsv_finds_the_same_rows(write, content):
    assert rows.read_tsv(write(content)) == [["a", "b"], ["c", "d"]]


def test_read_tsv_takes_quotes_literally(write):
    # F59: one row for each line, whatever quotes are open.
    read = rows.read_tsv(write(b'"a\tb\n""\t"c"\nd "\t\'\n'))
    assert read == [['"a', "b"], ['""', '"c"'], ['d "', "'"]]


def test_read_tsv_reads_as_python_did_in_2018(write):
    content = 'x\t"y" \tz\n\té\u2028"\n"\t\t"'
    path = write(content.encode())
    with open(path, encoding="utf-8", newline="\n") as stream:
        expected = list(csv.reader(stream, delimiter="\t", quotechar=None))
    assert rows.read_tsv(path) == expected


@pytest.mark.parametrize(
    "char", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"]
)
def test_read_tsv_ends_a_row_at_lf_only(write, char):
    read = rows.read_tsv(write(f"a{char}b\tc\nd\te\n".encode()))
    assert read == [[f"a{char}b", "c"], ["d", "e"]]


def test_read_tsv_reads_a_field_of_any_length(write):
    # F67: Python's csv stops at 131,072 characters.
    assert csv.field_size_limit() == 131072
    read = rows.read_tsv(write(b"1\t" + b"x" * 200_000 + b"\n0\ty\n"))
    assert [len(row[1]) for row in read] == [200_000, 1]
    read = rows.read_quoted(write(b'1,"' + b"x" * 200_000 + b'"\n0,y\n'))
    assert [len(row[1]) for row in read] == [200_000, 1]
    assert csv.field_size_limit() == 131072


def test_read_tsv_reads_one_row_and_keeps_empty_columns(write):
    assert rows.read_tsv(write(b"only")) == [["only"]]
    assert rows.read_tsv(write(b"\t\t\n")) == [["", "", ""]]


@pytest.mark.parametrize("blank", [b"", b" ", b"\r", "\u3000".encode()])
def test_read_tsv_names_a_blank_line_between_rows(write, blank):
    # F55. Passed over, it would shift the predictions after it.
    path = write(b"a\tb\n" + blank + b"\n\nc\td\n")
    with pytest.raises(UserError, match="train.tsv, line 2: blank, but more"):
        rows.read_tsv(path)


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\n\n \n"])
def test_read_tsv_refuses_a_file_without_rows(write, content):
    with pytest.raises(UserError, match="train.tsv is empty"):
        rows.read_tsv(write(content))


def test_read_tsv_names_the_line_that_is_not_utf8(write):
    path = write(b"a\tb\nc\tcaf\xe9\n")
    with pytest.raises(UserError, match="line 2: not UTF-8 .byte 0xE9"):
        rows.read_tsv(path)


def test_read_tsv_names_the_line_with_a_nul_byte(write):
    with pytest.raises(UserError, match="line 2: a NUL byte"):
        rows.read_tsv(write(b"a\tb\nc\t\0d\n"))


@pytest.mark.parametrize("content", [b"a,b\rc,d\r", b'"a",b\r"c",d\r\n'])
def test_read_quoted_refuses_lines_that_end_in_cr(write, content):
    with pytest.raises(UserError, match="train.csv: the lines end in CR alone"):
        rows.read_quoted(write(content, "train.csv"))


def test_read_tsv_refuses_lines_that_end_in_cr(write):
    with pytest.raises(UserError, match="train.tsv: the lines end in CR alone"):
        rows.read_tsv(write(b"a\tb\rc\td\r"))


def test_read_tsv_names_what_it_cannot_read(tmp_path):
    with pytest.raises(UserError, match="gone.tsv cannot be read: No such"):
        rows.read_tsv(str(tmp_path / "gone.tsv"))


def test_row_names_its_place_where_a_column_is_missing(write):
    row = rows.read_tsv(write(b"a\tb\tc\nd\te\n"))[1]
    assert row[1] == row[-1] == "e"
    message = r"train.tsv, line 2: 2 column\(s\), but column 2 is .* 'd'"
    with pytest.raises(UserError, match=message):
        row[2]


def test_row_without_a_column_names_its_place():
    with pytest.raises(UserError, match=r"x.tsv, line 7: 0 column\(s\)"):
        rows.Row([], "x.tsv", 7)[0]


# Quoted fields.


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'a,"b, c"\n', [["a", "b, c"]]),
        (b'"say ""no""",b\n', [['say "no"', "b"]]),
        (b'"",""\n', [["", ""]]),
        (b'5" pipe,b "c"\n', [['5" pipe', 'b "c"']]),
        (b'a,b\r\n"c","d"\r\ne,f', [["a", "b"], ["c", "d"], ["e", "f"]]),
        (b'\xef\xbb\xbf"a",b\n\n', [["a", "b"]]),
        (b"a,\n,b\n", [["a", ""], ["", "b"]]),
        (b'"a\n\nb",c\nd,e\n', [["a\n\nb", "c"], ["d", "e"]]),
        (b'"a","b"', [["a", "b"]]),
        (b'""\nx\n', [[""], ["x"]]),
    ],
)
def test_read_quoted_takes_fields_out_of_quotes(write, content, expected):
    read = rows.read_quoted(write(content))
    assert read == expected


@pytest.mark.parametrize(
    "content", [b'a,"b, ""c"\n1,2\n', b'"x\ny",z\r\n"p","q"\r\n', b'a b,"",c\n']
)
def test_read_quoted_reads_as_python_does(write, content):
    path = write(content)
    with open(path, encoding="utf-8", newline="") as stream:
        expected = list(csv.reader(stream))
    assert rows.read_quoted(path) == expected


def test_read_quoted_counts_the_lines_inside_quotes(write):
    read = rows.read_quoted(write(b'"a\nb",c\nd,"e\r\n\r\n"\r\nf,g\n'))
    assert [row.line_number for row in read] == [1, 3, 6]


@pytest.mark.parametrize(
    "content",
    [
        b'a,b\nc,"d\ne,f\n',
        b'a,b\nc,"d" x\n',
        b'a,b\nc,"d"x"\n',
        b'a,b\nc,"d"\rx\n',
    ],
    ids=["open", "after", "inside", "cr"],
)
def test_read_quoted_names_the_line_of_a_bad_quote(write, content):
    with pytest.raises(UserError, match='line 2: a field begins with " but'):
        rows.read_quoted(write(content))


def test_read_quoted_names_a_blank_line_and_a_nul_byte(write):
    with pytest.raises(UserError, match="line 4: blank, but more rows follow"):
        rows.read_quoted(write(b'a,"b\n\n"\n\nc,d\n'))
    with pytest.raises(UserError, match="line 2: a NUL byte"):
        rows.read_quoted(write(b"a,b\nc,\0\n"))
    with pytest.raises(UserError, match="line 2: not UTF-8"):
        rows.read_quoted(write(b"a,b\nc,\xff\n"))
    with pytest.raises(UserError, match="is empty"):
        rows.read_quoted(write(b"\n"))


def test_read_quoted_with_tabs(write):
    read = rows.read_quoted(write(b'"a\tb"\tc, d\n\t\n'), delimiter="\t")
    assert read == [["a\tb", "c, d"], ["", ""]]


# The file of a data set.


def test_find_file_takes_the_first_that_is_there(write, tmp_path):
    write(b"x", "AX.tsv")
    found = rows.find_file(str(tmp_path), "diagnostic.tsv", "AX.tsv")
    assert found == str(tmp_path / "AX.tsv")


def test_find_file_says_what_is_there_instead(write, tmp_path):
    write(b"x", "dev.tsv.gz")
    message = r"no .*/dev.tsv nor .*/AX.tsv\. The folder has dev.tsv.gz\."
    with pytest.raises(UserError, match=message):
        rows.find_file(str(tmp_path), "dev.tsv", "AX.tsv")
    for number in range(13):
        write(b"x", f"{number}")
    with pytest.raises(UserError, match=r"has 0, 1, 10, .*8, \.\.\.\. --data"):
        rows.find_file(str(tmp_path), "dev.tsv")


def test_find_file_refuses_folders(tmp_path):
    (tmp_path / "dev.tsv").mkdir()
    with pytest.raises(UserError, match="dev.tsv is a folder, but should be"):
        rows.find_file(str(tmp_path), "dev.tsv")
    with pytest.raises(UserError, match="--data_dir=.*/gone: there is no such"):
        rows.find_file(str(tmp_path / "gone"), "dev.tsv")
    with pytest.raises(UserError, match="--data_dir must be given"):
        rows.find_file(None, "dev.tsv")


def test_find_file_and_read_tsv_take_remote_paths():
    # TensorFlow's in-memory file system stands for gs://.
    import tensorflow as tf

    tf.io.gfile.makedirs("ram://rows")
    with tf.io.gfile.GFile("ram://rows/dev.tsv", "wb") as stream:
        stream.write("\ufeffa\tb\r\nc\u2028\td\n".encode())
    path = rows.find_file("ram://rows", "dev.tsv")
    assert rows.read_tsv(path) == [["a", "b"], ["c\u2028", "d"]]
    with pytest.raises(UserError, match="no ram://rows/train.tsv. --data_dir"):
        rows.find_file("ram://rows", "train.tsv")
