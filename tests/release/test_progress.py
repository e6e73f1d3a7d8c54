"""A progress bar while a file is read, only on a terminal."""

import os
import pty
import subprocess
import sys

import duckdb
import pytest

from userdp.release._files import ParquetFiles

# DuckDB shows its bar after two seconds, here at once. (This setting also turns the bar on, so the
# script applies it only if the bar is on.)
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

SCRIPTS = {"a script": ["reading.py"], "a command": ["-c", READING]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reading.py").write_text(READING)
    many = tmp_path / "many.parquet"
    rows = "SELECT i % 200000 AS user FROM range(1000000) r(i)"
    duckdb.sql(f"COPY ({rows}) TO '{many}'")
    return tmp_path


def printed_on_a_terminal(command, folder):
    """Everything that a command writes to its own terminal, including what it overwrites there."""
    parent_end, child_end = pty.openpty()
    with subprocess.Popen(
        command, cwd=folder, stdout=child_end, stdin=subprocess.DEVNULL
    ) as process:
        os.close(child_end)
        parts = []
        try:
            while part := os.read(parent_end, 2**16):
                parts.append(part)
        except OSError:  # Linux raises this if the other end is closed
            pass
    os.close(parent_end)
    assert process.returncode == 0
    return b"".join(parts).decode()


@pytest.mark.slow
@pytest.mark.parametrize("way", SCRIPTS)
def test_a_file_is_read_with_a_bar_only_on_a_terminal(folder, way):
    """Into a pipe, DuckDB itself would draw a bar if the code is not run from a script."""
    command = [sys.executable, *SCRIPTS[way]]
    seen = printed_on_a_terminal(command, folder)
    assert "100%" in seen
    assert "200000 users" in seen
    piped = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("200000 users\n", "")


@pytest.mark.parametrize(
    ("stream", "bar"), [(True, True), (False, False), (None, False)], ids=["seen", "kept", "none"]
)
def test_the_bar_depends_on_whether_the_output_is_a_terminal(tmp_path, monkeypatch, stream, bar):
    class Stream:
        def isatty(self):
            return stream

    path = tmp_path / "t.parquet"
    duckdb.sql(f"COPY (SELECT 1 AS user) TO '{path}'")
    monkeypatch.setattr(sys, "stdout", None if stream is None else Stream())
    files = ParquetFiles("user", None, path)
    files.check()
    query = "SELECT current_setting('enable_progress_bar')"
    assert files.backend.connection.raw_sql(query).fetchall() == [(bar,)]
