"""The schema: erasable, readable by people, and read by index alone."""

import re
import sqlite3
from functools import partial

import pytest

import holdfast
from holdfast.store.sqlite.erase import RULES

READS = {
    "messages": lambda memory, alice: alice.thread("t3").messages(),
    "episodes": lambda memory, alice: alice.thread("t3").episodes(10),
    "welcome_back": lambda memory, alice: alice.thread("t3").welcome_back(),
    "restore": lambda memory, alice: alice.thread("t3").restore(),
    "restore a number": lambda memory, alice: alice.thread("t3").restore(1),
    "step_status": lambda memory, alice: alice.thread("t3").step_status("send"),
    "recent": lambda memory, alice: alice.recent(),
    "records": lambda memory, alice: alice.records(limit=5, kinds=["fact"]),
    "get": lambda memory, alice: alice.get(alice.recent(limit=1)[0].id),
    "preferences": lambda memory, alice: dict(alice.preferences),
    "recall": lambda memory, alice: alice.recall("report"),
}
# Reads of a bounded number of rows, whose order must come from an index and not from sorting.
FLAT = ["messages", "episodes", "restore", "restore a number", "welcome_back"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A database with several users, threads and all kinds of records."""
    path = tmp_path_factory.mktemp("schema") / "agent.db"
    with holdfast.open(path, durability="normal") as memory:
        for user in ("alice", "bob", "carol"):
            scope = memory.scope(user=user, agent="support", tenant="acme")
            scope.remember_many([f"report {number}" for number in range(50)])
            scope.preferences["timezone"] = "UTC"
            for number in range(5):
                with scope.thread(f"t{number}").batch() as batch:
                    batch.add("system", "You are an analyst")
                    for turn in range(40):
                        batch.add("user", f"message {turn}")
                    batch.checkpoint({"turn": 40})
            scope.thread("t3").once("send", lambda: "sent")
    return path


@pytest.fixture
def raw(path):
    """The file in the hands of somebody with plain sqlite3."""
    connection = sqlite3.connect(path)
    yield connection
    connection.close()


def test_every_table_has_an_erasure_rule(raw):
    """A new table without one fails here, before it can keep what was forgotten."""
    tables = {
        name
        for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith("sqlite_")
    }

    assert tables == set(RULES)
    assert all(RULES.values())


def test_every_table_is_strict(raw):
    """A column holds what it says, whoever wrote it."""
    loose = raw.execute(
        "SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0"
        " AND name NOT LIKE 'sqlite_%'"
    )

    assert loose.fetchall() == []


def test_facts_can_be_read_with_plain_sql(raw):
    """Without the package, by any tool."""
    rows = raw.execute(
        "SELECT tenant, user, kind, key, text, current FROM facts"
        " WHERE user = 'alice' AND kind = 'preference'"
    )

    assert rows.fetchall() == [("acme", "alice", "preference", "timezone", "UTC", 1)]


def test_messages_can_be_read_with_plain_sql(raw):
    """With their thread, role and time."""
    rows = raw.execute(
        "SELECT role, text, recorded FROM messages"
        " WHERE user = 'alice' AND thread = 't3' ORDER BY id LIMIT 3"
    ).fetchall()

    assert {role for role, _, _ in rows} <= {"system", "user"}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", when) for _, _, when in rows)


def test_the_views_show_every_record_of_their_form(raw):
    """None is hidden by a join."""
    (facts, messages) = (
        raw.execute(f"SELECT count(*) FROM {view}").fetchone()[0] for view in ("facts", "messages")
    )

    counted = dict(raw.execute("SELECT form, count(*) FROM records GROUP BY form"))
    assert (facts, messages) == (counted["fact"], counted["episode"])


@pytest.fixture
def plans(path, raw, monkeypatch):
    """A function that gives the query plans of all that a public call reads."""
    asked = []

    class Listening(sqlite3.Connection):
        def execute(self, sql, parameters=()):
            asked.append((sql, parameters))
            return super().execute(sql, parameters)

    def of(read):
        with monkeypatch.context() as patched:
            patched.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Listening))
            with holdfast.open(path) as memory:
                alice = memory.scope(user="alice", agent="support", tenant="acme")
                asked.clear()
                read(memory, alice)
                reads = [(sql, values) for sql, values in asked if "records" in sql]
        assert reads
        return [
            step
            for sql, values in reads
            for *_, step in raw.execute(f"EXPLAIN QUERY PLAN {sql}", values)
        ]

    return of


@pytest.mark.parametrize("name", READS)
def test_every_read_finds_its_records_by_an_index(plans, name):
    """It costs what it returns, not what the file holds."""
    scans = [step for step in plans(READS[name]) if re.match(r"SCAN (r|records|o|owners)\b", step)]

    assert scans == []


@pytest.mark.parametrize("name", FLAT)
def test_a_read_of_a_few_rows_sorts_nothing(plans, name):
    """The index has the order: the read is as fast in a thread of 10,000 as in one of 20."""
    sorts = [
        step for step in plans(READS[name]) if "TEMP B-TREE" in step and "BY place" not in step
    ]

    assert sorts == []
