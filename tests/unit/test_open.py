"""Opening a memory: by path, URL or environment; shared, read-only, closed."""

import os
import threading
from pathlib import Path

import pytest

import holdfast

CSV = "Prefers reports in CSV format"


def put(url, text=CSV):
    """Store one fact in a memory of its own opening."""
    with holdfast.open(url) as memory:
        memory.scope(user="alice").remember(text)


def held(url, **how):
    """The facts of a memory."""
    with holdfast.open(url, **how) as memory:
        return [hit.text for hit in memory.scope(user="alice").records()]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, empty, and no URL in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HOLDFAST_URL", raising=False)
    return tmp_path


def test_one_object_opens_state_and_knowledge(memory):
    """A single file and a single handle for all kinds of memory."""
    alice = memory.scope(user="alice")
    alice.remember(CSV)
    alice.thread("q4").checkpoint({"step": 1})
    alice.thread("q4").add("user", "Find the report")

    assert alice.thread("q4").restore() == {"step": 1}
    assert len(alice.records()) == 2


@pytest.mark.parametrize(
    "url",
    [
        "agent.db", "./agent.db", "sqlite:///agent.db", "sqlite:///{folder}/agent.db",
        "{folder}/agent.db", Path("agent.db"),
    ],
    ids=str,
)  # fmt: skip
def test_a_file_is_named_by_path_or_url(folder, url):
    """Relative to where one stands, or absolute."""
    given = url.format(folder=folder) if isinstance(url, str) else url

    put(given)

    assert held(folder / "agent.db") == [CSV]


def test_an_absolute_url_has_four_slashes(folder):
    """As everywhere: three belong to the scheme and the empty host."""
    url = f"sqlite:///{folder}/agent.db"

    put(url)

    assert url.startswith("sqlite:////")
    assert (folder / "agent.db").exists()


@pytest.mark.parametrize("name", ["with space.db", "100%.db", "a?b#c.db", "ä 🦊.db", "noending"])
def test_any_file_name_will_do(folder, name):
    """A path is a path, not a piece of a URI."""
    put(name)

    assert held(name) == [CSV]
    assert (folder / name).stat().st_size > 0


def test_a_url_may_be_percent_encoded(folder):
    """Since it is a URL."""
    put("sqlite:///with%20space.db")

    assert held("with space.db") == [CSV]


def test_the_environment_names_it_when_nothing_else_does(folder, monkeypatch):
    """The one variable that is ever read."""
    monkeypatch.setenv("HOLDFAST_URL", "sqlite:///agent.db")

    put(None)

    assert held(folder / "agent.db") == [CSV]


def test_an_argument_beats_the_environment(folder, monkeypatch):
    """What is said in the code is meant."""
    monkeypatch.setenv("HOLDFAST_URL", "sqlite:///other.db")

    put("agent.db")

    assert not (folder / "other.db").exists()


@pytest.mark.parametrize("url", [None, "", "agent\0.db", "redis://localhost", "nonsense://x"])
def test_what_names_no_memory_is_misconfigured(folder, url):
    """With what to pass instead."""
    with pytest.raises(holdfast.Misconfigured) as caught:
        holdfast.open(url)

    assert caught.value.hint
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("url", [5, b"agent.db", ["agent.db"]], ids=repr)
def test_what_is_no_path_is_refused(folder, url):
    """With a typed error like all others."""
    with pytest.raises(holdfast.HoldfastError) as caught:
        holdfast.open(url)

    assert caught.value.hint


@pytest.mark.parametrize("durability", ["fulll", "FULL", "", None, "off", "relaxed"])
def test_an_unknown_durability_is_refused(folder, durability):
    """A typo must not weaken a promise."""
    with pytest.raises(holdfast.Misconfigured, match="durability") as caught:
        holdfast.open("agent.db", durability=durability)

    assert "'full'" in caught.value.hint
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_both_durabilities_keep_what_was_said(folder, durability):
    """They differ in a power cut alone."""
    with holdfast.open("agent.db", durability=durability) as memory:
        memory.scope(user="alice").remember(CSV)

    assert held("agent.db") == [CSV]


@pytest.mark.parametrize("clock", ["now", 7])
def test_a_clock_is_a_callable(clock):
    """Told at opening, not at the first write."""
    with pytest.raises(holdfast.Misconfigured, match="clock"):
        holdfast.open("memory://", clock=clock)


def test_memories_without_a_file_share_nothing():
    """Each is its own, and gone when it is closed."""
    with holdfast.open("memory://") as first, holdfast.open("memory://") as second:
        first.scope(user="alice").remember(CSV)

        assert second.scope(user="alice").records() == []


def test_leaving_the_block_closes(memory):
    """Also when it is left by an exception."""
    with pytest.raises(ZeroDivisionError), memory:
        _ = 1 / 0

    with pytest.raises(holdfast.Misconfigured, match="closed"):
        memory.scope(user="alice").records()


def test_closing_twice_does_nothing(memory):
    """Nor does leaving the block after closing."""
    with memory:
        memory.close()
    memory.close()


def test_one_file_opened_twice_is_one_memory(folder):
    """Both see what either wrote, and one stays open when the other closes."""
    with holdfast.open("agent.db") as first:
        with holdfast.open(folder / "agent.db") as second:
            first.scope(user="alice").remember("one")
            second.scope(user="alice").remember("two")
            seen = [hit.text for hit in first.scope(user="alice").records()]
        first.scope(user="alice").remember("three")

    assert seen == ["two", "one"]
    assert held("agent.db") == ["three", "two", "one"]


def test_one_file_under_two_names_is_one_memory(folder):
    """A link is found out, since locks hang on the file and not on its name."""
    with holdfast.open("agent.db") as first:
        os.symlink("agent.db", "link.db")
        with holdfast.open("link.db") as second:
            first.scope(user="alice").remember("one")
            second.scope(user="alice").remember("two")

    assert held("agent.db") == held("link.db") == ["two", "one"]


def test_many_threads_share_one_handle(memory):
    """Without a lock of the caller's, and nothing is lost."""
    scope = memory.scope(user="alice")

    def write(name):
        for number in range(25):
            scope.thread(name).add("user", f"{name} {number}")

    writers = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    for n in range(8):
        said = [episode.text for episode in scope.thread(f"t{n}").episodes()]
        assert said == [f"t{n} {number}" for number in range(25)]


def test_two_that_say_the_same_at_once_make_one_fact(memory):
    """Whoever is slower merges with what the faster one wrote."""
    scope = memory.scope(user="alice")
    ready, receipts = threading.Barrier(8), []

    def write(source):
        ready.wait()
        receipts.append(scope.remember(CSV, source=source))

    writers = [threading.Thread(target=write, args=(f"s{n}",)) for n in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    (fact,) = scope.records()
    assert sorted(fact.sources) == [f"s{n}" for n in range(8)]
    assert sorted(receipt.action for receipt in receipts) == ["added"] + ["merged"] * 7


class TestReadOnly:
    """`read_only=True`: look, and leave no trace."""

    @pytest.fixture
    def reader(self, folder):
        """A read-only handle on a memory with one fact."""
        put("agent.db")
        with holdfast.open("agent.db", read_only=True) as memory:
            yield memory.scope(user="alice")

    def test_everything_can_be_read(self, reader):
        """By every reading verb."""
        assert [hit.text for hit in reader.records()] == [CSV]
        assert [hit.text for hit in reader.recall("reports")] == [CSV]
        assert CSV in reader.inject("You are an analyst.")
        assert reader.thread("q4").messages() == []

    @pytest.mark.parametrize(
        "write",
        [
            lambda scope: scope.remember("Prefers XML"),
            lambda scope: scope.edit(scope.records()[0].id, text="Prefers XML"),
            lambda scope: scope.forget(scope.records()[0].id),
            lambda scope: scope.preferences.set("format", "xml"),
            lambda scope: scope.thread("q4").add("user", "Hello"),
            lambda scope: scope.thread("q4").checkpoint({}),
            lambda scope: scope.thread("q4").once("send", list),
        ],
        ids=["remember", "edit", "forget", "preference", "add", "checkpoint", "once"],
    )
    def test_nothing_can_be_written(self, reader, write):
        """Unsupported, with what to do."""
        with pytest.raises(holdfast.Unsupported, match="read-only") as caught:
            write(reader)

        assert caught.value.hint
        assert [hit.text for hit in reader.records()] == [CSV]

    def test_what_others_write_meanwhile_is_seen(self, folder, reader):
        """It reads the file as it is now."""
        put("agent.db", "Prefers XML")

        assert [hit.text for hit in reader.records()] == ["Prefers XML", CSV]

    def test_a_file_that_is_not_there_is_not_made(self, folder):
        """Reading has no side effects."""
        with pytest.raises(holdfast.Misconfigured, match="no such file"):
            holdfast.open("agent.db", read_only=True)

        assert list(folder.iterdir()) == []
