"""A bar while a file is read: on a terminal, and nowhere else."""

import os
import pty
import subprocess
import sys

import duckdb
import pytest

from userdp.release._files import ParquetFiles

# DuckDB's bar, if it is on, appears after two seconds: here at once. (To say so would turn it on.)
READING = """
from userdp.release import _files, user_counts
show_bar = _files._show_bar
def show_bar_at_once(connection, wanted):
    show_bar(connection, wanted)
    ((shown,),) = connection.raw_sql("SELECT current_setting('enable_progress_bar')").fetchall()
    if shown:
        connection.raw_sql("SET progress_bar_time = 1")
_files._show_bar = show_bar_at_once
print(len(user_counts("user", data="many.parquet")), "users")
"""

WAYS = {"a script": ["reading.py"], "a command": ["-c", READING]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reading.py").write_text(READING)
    many = tmp_path / "many.parquet"
    rows = "SELECT i % 200000 AS user FROM range(1000000) r(i)"
    duckdb.sql(f"COPY ({rows}) TO '{many}'")
    return tmp_path


def printed_on_a_terminal(command, folder):
    """What a command writes to a terminal of its own, also what it overwrites there."""
    ours, its = pty.openpty()
    with subprocess.Popen(command, cwd=folder, stdout=its, stdin=subprocess.DEVNULL) as process:
        os.close(its)
        parts = []
        try:
            while part := os.read(ours, 2**16):
                parts.append(part)
        except OSError:  # so Linux says that the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    return b"".join(parts).decode()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_file_is_read_with_a_bar_on_a_terminal_only(folder, way):
    """In a pipe DuckDB would draw one of itself, where no script runs."""
    command = [sys.executable, *WAYS[way]]
    seen = printed_on_a_terminal(command, folder)
    assert "100%" in seen
    assert "200000 users" in seen
    piped = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("200000 users\n", "")


@pytest.mark.parametrize(
    ("stream", "bar"), [(True, True), (False, False), (None, False)], ids=["seen", "kept", "none"]
)
def test_whether_there_is_a_bar_follows_the_standard_output(tmp_path, monkeypatch, stream, bar):
    class Stream:
        def isatty(self):
            return stream

    path = tmp_path / "t.parquet"
    duckdb.sql(f"COPY (SELECT 1 AS user) TO '{path}'")
    monkeypatch.setattr(sys, "stdout", None if stream is None else Stream())
    files = ParquetFiles("user", None, path)
    files.check()
    ask = "SELECT current_setting('enable_progress_bar')"
    assert files.backend.connection.raw_sql(ask).fetchall() == [(bar,)]
