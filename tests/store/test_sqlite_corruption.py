"""Damage below us: what is read is what was written, or Corrupt; never something else."""

import shutil
import sqlite3

import pytest

import holdfast

PAGE = 4096
FACTS = [f"fact {number} about the harbour" for number in range(30)]
SAID = [f"message {number} from the harbour" for number in range(30)]
STATE = {"draft": "harbour " * 2_000}

# What a fault may do to a column, and is found by the checksum of the record.
CHANGES = {
    "body": "json_replace(body, '$.text', 'fact 7 about the prison')",
    "a bit of the body": "replace(body, 'fact', 'fault')",
    "id": "id || 'x'",
    "version": "version + 1",
    "about": "'bob'",
    "key": "'home'",
    "occurred_us": "occurred_us + 1",
    "recorded_us": "recorded_us - 1",
    "created_us": "created_us + 1",
    "valid_from_us": "0",
    "valid_to_us": "9000000000000000",
    "expires_us": "9000000000000000",
    "checksum": "zeroblob(8)",
    "seq": "seq + 100000",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A closed database with facts, messages and a long state of alice's, and bob's place."""
    path = tmp_path_factory.mktemp("written") / "agent.db"
    with holdfast.open(path) as memory:
        alice = memory.scope(user="alice")
        alice.remember_many(FACTS)
        for text in SAID:
            alice.thread("q4").add("user", text)
        alice.thread("q4").checkpoint(STATE)
        memory.scope(user="bob").remember("Prefers XML")
    return path


@pytest.fixture
def path(written, tmp_path):
    """A copy of it, to be damaged."""
    return shutil.copy(written, tmp_path / "agent.db")


def damage(path, sql, *values):
    """Change rows behind the package's back, while it is closed."""
    connection = sqlite3.connect(path)
    changed = connection.execute(sql, values).rowcount
    connection.commit()
    connection.close()
    return changed


def everything(path):
    """All that alice is shown: facts, messages, state."""
    with holdfast.open(path) as memory:
        alice = memory.scope(user="alice")
        facts = [hit.text for hit in alice.records(kinds=["fact"])]
        said = [episode.text for episode in alice.thread("q4").episodes()]
        return facts[::-1], said, alice.thread("q4").restore()


def test_an_untouched_file_is_read_as_it_was_written(path):
    """A control for all tests below."""
    assert everything(path) == (FACTS, SAID, STATE)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_column_of_a_fact_is_corrupt(path, change):
    """Body or header; the message says which record, and shows nothing of it."""
    column = "body" if "body" in change else change
    assert damage(
        path,
        f"UPDATE records SET {column} = {CHANGES[change]}"
        " WHERE form = 'fact' AND json_extract(body, '$.text') = ?",
        FACTS[7],
    )

    with pytest.raises(holdfast.Corrupt) as caught:
        everything(path)

    assert "checksum" in str(caught.value)
    assert "harbour" not in str(caught.value)
    assert "prison" not in str(caught.value)
    assert "restore a copy" in caught.value.hint
    assert caught.value.record


@pytest.mark.parametrize("column", ["form", "kind", "thread"])
def test_a_record_that_was_moved_is_not_shown_in_its_new_place(path, column):
    """A message that a fault made a fact, or put into another thread."""
    damage(path, f"UPDATE records SET {column} = 'other' WHERE form = 'episode'")

    with holdfast.open(path) as memory:
        alice = memory.scope(user="alice")
        reads = {
            "form": lambda: alice.get(next_id(path)),
            "kind": lambda: alice.records(kinds=["other"]),
            "thread": lambda: alice.thread("other").episodes(),
        }

        with pytest.raises(holdfast.Corrupt):
            reads[column]()


def next_id(path):
    """The id of some record whose form was changed."""
    connection = sqlite3.connect(path)
    (id,) = connection.execute("SELECT id FROM records WHERE form = 'other'").fetchone()
    connection.close()
    return id


def test_a_record_in_another_owners_place_is_not_shown_there(path):
    """A fault must not become a leak: the checksum is bound to the owner."""
    damage(path, "UPDATE records SET owner = (SELECT owner FROM owners WHERE user = 'bob')")

    with holdfast.open(path) as memory, pytest.raises(holdfast.Corrupt):
        memory.scope(user="bob").records()


def test_an_owner_that_became_another_one_is_not_believed(path):
    """All records of it say whose they are."""
    damage(path, "UPDATE owners SET user = 'carol' WHERE user = 'alice'")

    with holdfast.open(path) as memory:
        assert memory.scope(user="alice").records() == []
        with pytest.raises(holdfast.Corrupt):
            memory.scope(user="carol").records()


def test_a_changed_state_is_corrupt(path):
    """A worker must not go on from something else."""
    damage(
        path,
        "UPDATE records SET body = CAST(replace(CAST(body AS TEXT), 'harbour', 'prison!')"
        " AS BLOB) WHERE form = 'checkpoint'",
    )

    with holdfast.open(path) as memory, pytest.raises(holdfast.Corrupt) as caught:
        memory.scope(user="alice").thread("q4").restore()

    assert "prison" not in str(caught.value)


def test_text_that_is_no_text_any_more_is_corrupt(path):
    """A flipped bit may break the encoding before it breaks the checksum."""
    damage(path, "UPDATE records SET body = CAST(x'7bff7d' AS TEXT) WHERE form = 'fact'")

    with holdfast.open(path) as memory, pytest.raises(holdfast.Corrupt):
        memory.scope(user="alice").records(kinds=["fact"])


def test_a_record_of_a_later_format_is_refused(path):
    """It is not corrupt: a newer version can read it."""
    damage(path, "UPDATE records SET codec = 99 WHERE form = 'fact'")

    with holdfast.open(path) as memory, pytest.raises(holdfast.Unsupported) as caught:
        memory.scope(user="alice").records(kinds=["fact"])

    assert "Upgrade" in caught.value.hint


@pytest.mark.parametrize("name", ["salt", "min_reader", "min_writer", "needs"])
def test_a_file_without_a_word_of_its_own_is_corrupt(path, name):
    """What the file says about itself can be lost as well as anything else."""
    damage(path, "DELETE FROM meta WHERE name = ?", name)

    try:
        found = everything(path)
    except holdfast.Corrupt as error:
        found = error.hint

    assert found == (FACTS, SAID, STATE) or "copy" in found


def overwritten(whole, kind, number):
    """The file with one page replaced."""
    pages = len(whole) // PAGE
    other = PAGE * (pages - 1 if number < pages - 1 else 1)
    new = {
        "zeros": bytes(PAGE),
        "noise": bytes((number * 131 + place * 7_919) % 251 for place in range(PAGE)),
        "another page": whole[other : other + PAGE],
    }[kind]
    return whole[: number * PAGE] + new + whole[(number + 1) * PAGE :]


@pytest.mark.parametrize("kind", ["zeros", "noise", "another page"])
def test_an_overwritten_page_never_gives_wrong_content(written, tmp_path, kind):
    """Each page of the file in turn: Corrupt where it is found out, else nothing but the truth."""
    whole = written.read_bytes()
    damaged = {number: tmp_path / f"{number}.db" for number in range(1, len(whole) // PAGE)}
    for number, path in damaged.items():
        path.write_bytes(overwritten(whole, kind, number))

    outcomes = {number: outcome(path) for number, path in damaged.items()}

    allowed = {"Corrupt", "the truth", "a part of it"}
    assert {number: found for number, found in outcomes.items() if found not in allowed} == {}
    assert "Corrupt" in outcomes.values()


def outcome(path):
    """What reading a damaged file comes to."""
    try:
        facts, said, state = everything(path)
    except holdfast.HoldfastError as error:
        return type(error).__name__
    if (facts, said, state) == (FACTS, SAID, STATE):
        return "the truth"
    true = set(facts) <= set(FACTS) and set(said) <= set(SAID) and state in (STATE, None)
    return "a part of it" if true else "something else"
