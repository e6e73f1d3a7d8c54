"""Files are read literally, and what is wrong with one is said without its contents."""

import pytest

import userdp as ud
from userdp.practice._files import open_files
from userdp.practice._quiet import quietly


def counts_in(tmp_path, text, user="user"):
    path = tmp_path / "t.csv"
    path.write_text(text, "utf-8")
    return ud.user_counts(user, data=path).tolist()


def test_a_csv_file_is_what_its_commas_and_double_quotes_say(tmp_path):
    """Whatever else a sniffer of dialects may see in it."""
    assert counts_in(tmp_path, "user,value\n'a',1\na,2\n") == [1, 1]
    assert counts_in(tmp_path, "user,value\n#a,1\nb,2\n") == [1, 1]
    assert counts_in(tmp_path, 'user,value\n"a\\",1\n"a",2\n"b, c",3\n"b, c",4\n') == [2, 1, 1]
    assert counts_in(tmp_path, "1,2\n1,2\n1,3\n", user="1") == [2]


@pytest.mark.parametrize("rows", ["a,1\nb\n", "a,1\nb,2,3\n", 'a,1\n"x\\"",1\n'])
def test_rows_that_do_not_fit_are_refused_as_a_whole(tmp_path, rows):
    with pytest.raises(
        ValueError, match=r"The engine's words \(InvalidInput\w+\) are not repeated"
    ):
        counts_in(tmp_path, "user,value\n" + rows)


def test_a_header_alone_is_a_table_without_rows(tmp_path):
    with pytest.raises(ValueError, match="`user` must have rows that count: there are none"):
        counts_in(tmp_path, "user,value\n")


def test_names_of_folders_are_no_columns_of_csv_files(tmp_path):
    folder = tmp_path / "user=alice"
    folder.mkdir()
    assert counts_in(folder, "user,value\na,1\nb,2\n") == [1, 1]


def test_a_refusal_shows_what_was_given(tmp_path):
    folder = tmp_path / "t.csv"
    folder.mkdir()
    for data, kind, words in (
        (3, TypeError, "the path of a file, got data=3"),
        (tmp_path / "t.txt", ValueError, r"ending in .*got data='.*t\.txt'"),
        (tmp_path / "no.csv", FileNotFoundError, r"a file here, got data='.*no\.csv'"),
        (folder, ValueError, r"a regular file, got data='.*t\.csv'"),
    ):
        with pytest.raises(kind, match=words):
            open_files(data)
    paths = [tmp_path / "a.csv", tmp_path / "b.parquet"]
    paths[1].write_bytes(b"PAR1 secret")
    with pytest.raises(ValueError, match=r"that DuckDB can read, got data='.*b\.parquet'"):
        open_files(paths[1])
    for path in paths:
        path.touch()
    with pytest.raises(
        ValueError, match=r"files of one kind, got data=\['.*a\.csv', '.*parquet'\]"
    ):
        open_files(paths)


def test_an_engines_error_leaves_its_name_only():
    with pytest.raises(
        ValueError, match=r"`data` must be good\. .*\(ZeroDivisionError\)"
    ) as refusal:
        quietly(lambda: 1 / 0, "good")
    assert refusal.value.__context__ is None
