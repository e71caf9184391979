"""Erasure to the last byte: what was forgotten is in no file any more."""

import sqlite3

import pytest

from tests.store import children


@pytest.fixture
def path(tmp_path):
    """A database in which a user has left words in every table."""
    path = tmp_path / "agent.db"
    assert children.run("leave_traces", path) == ["agent.db"]
    return path


def test_the_words_are_gone_from_the_bytes_of_every_file(path):
    """From the database, its log and its index, before closing as well as after."""
    total, pending, still_open, closed = children.run("forget", path, "yes")

    assert total == 27
    assert pending is False
    assert still_open == []
    assert closed == []


def test_without_secure_delete_the_words_would_still_be_there(path):
    """A control: the test above sees what it is to see, on any build of SQLite."""
    total, _, _, closed = children.run("forget", path, "no")

    assert total == 27
    assert closed == ["agent.db"]


def test_no_row_of_any_table_holds_what_was_forgotten(path):
    """Read by plain sqlite3, column by column; the other user's rows are all there."""
    children.run("forget", path, "yes")

    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema"
                                                     " WHERE type = 'table'")]  # fmt: skip
    rows = [repr(row) for table in tables for row in connection.execute(f"SELECT * FROM {table}")]
    (others,) = connection.execute("SELECT count(*) FROM messages WHERE user = 'bob'").fetchone()
    connection.close()

    assert [row for row in rows if children.CANARY in row] == []
    assert others == 20


def test_the_file_is_whole_after_an_erasure(path):
    """By SQLite's own check."""
    children.run("forget", path, "yes")

    connection = sqlite3.connect(path)
    found = connection.execute("PRAGMA integrity_check").fetchall()
    connection.close()

    assert found == [("ok",)]
