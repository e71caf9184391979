"""Making a database and bringing it forward: whole, once, and resumed after a kill."""

import re
import sqlite3

import pytest

import holdfast
from holdfast.store.sqlite.migrate import FORMAT, migrations, statements
from tests.store import children

POINTS = ["migration.begun", "migration.written", "migration.committed"]


@pytest.fixture
def path(tmp_path):
    """Where the database is to be."""
    return tmp_path / "agent.db"


def read(path, sql):
    """Rows, by plain sqlite3."""
    connection = sqlite3.connect(path)
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


def test_a_fresh_file_has_had_every_migration_once(path):
    """With its name, the version that brought it, and when."""
    holdfast.open(path).close()

    applied = read(path, "SELECT number, name, needs FROM migrations ORDER BY number")

    assert applied == [(number, name, needs) for number, name, needs, _ in migrations()]


def test_opening_again_applies_nothing(path):
    """What is done is done."""
    holdfast.open(path).close()
    before = read(path, "SELECT * FROM migrations"), read(path, "SELECT * FROM sqlite_schema")

    holdfast.open(path).close()

    assert before == (
        read(path, "SELECT * FROM migrations"),
        read(path, "SELECT * FROM sqlite_schema"),
    )


def test_migrations_are_numbered_without_gaps_and_name_their_version():
    """A file is named by its number and what it brings."""
    for place, (number, name, needs, sql) in enumerate(migrations(), 1):
        assert number == place
        assert re.fullmatch(rf"{number:04}_[a-z_]+", name)
        assert re.fullmatch(r"\d+\.\d+\.\d+", needs)
        assert list(statements(sql))


def test_a_fresh_file_says_who_may_read_and_write_it(path):
    """Two numbers, and the version that has them."""
    holdfast.open(path).close()

    meta = dict(read(path, "SELECT name, value FROM meta"))

    assert meta["min_reader"] == meta["min_writer"] == FORMAT
    assert meta["needs"] == meta["made_by"] == holdfast.__version__
    assert len(meta["salt"]) == 32


def test_every_file_has_a_salt_of_its_own(tmp_path):
    """Else a hash of one would be known in all others."""
    for name in ("a.db", "b.db"):
        holdfast.open(tmp_path / name).close()

    salts = {read(tmp_path / name, "SELECT value FROM meta WHERE name = 'salt'")[0]
             for name in ("a.db", "b.db")}  # fmt: skip

    assert len(salts) == 2


def test_settings_that_only_an_empty_file_takes_are_set(path):
    """Page size, vacuum, log and whose file it is."""
    holdfast.open(path).close()

    found = {
        name: read(path, f"PRAGMA {name}")[0][0]
        for name in ("page_size", "auto_vacuum", "journal_mode", "application_id")
    }

    assert found == {
        "page_size": 4096, "auto_vacuum": 2, "journal_mode": "wal", "application_id": 0x486F6C64,
    }  # fmt: skip


@pytest.mark.parametrize("point", POINTS)
def test_a_making_that_was_killed_is_finished_by_the_next_open(path, point):
    """Nothing or everything of it is there; no half of a schema."""
    children.run("make_and_die", path, point)

    with holdfast.open(path) as memory:
        memory.scope(user="alice").remember("Prefers reports in CSV format")

    assert len(read(path, "SELECT * FROM migrations")) == len(migrations())
    assert read(path, "SELECT text FROM facts") == [("Prefers reports in CSV format",)]


@pytest.mark.parametrize("point", POINTS)
def test_a_migration_that_was_killed_is_finished_by_the_next_open(path, point):
    """What was stored before it is still there."""
    with holdfast.open(path) as memory:
        memory.scope(user="alice").remember("Prefers reports in CSV format")

    killed = children.run("extend", path, point)
    between = read(path, "SELECT name FROM sqlite_schema WHERE name = 'extra'")
    found = children.run("extend", path, "")

    assert killed is None
    assert between == ([("extra",)] if point == "migration.committed" else [])
    assert found == ["Prefers reports in CSV format"]
    assert read(path, "SELECT number FROM migrations") == [(1,), (2,)]
    assert read(path, "SELECT count(*) FROM extra") == [(0,)]


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("CREATE TABLE a (b);\nCREATE TABLE c (d);\n", 2),
        ("CREATE TABLE a (\n  b TEXT DEFAULT ';'\n);\n", 1),
        ("-- a; comment\nCREATE TABLE a (b);\n", 1),
        (
            "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  DELETE FROM a;\n  DELETE FROM b;\nEND;\n",
            1,
        ),
        ("", 0),
    ],
    ids=["two", "semicolon in a text", "comment", "trigger", "empty"],
)
def test_a_script_is_taken_apart_into_its_statements(script, count):
    """One by one, since `executescript` would commit before the first of them."""
    found = list(statements(script))

    assert len(found) == count
    assert "".join(found) == script
