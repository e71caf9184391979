"""What every test of the public API starts from: both stores, a clock that is set, two people."""

import pytest

import holdfast
from holdfast.testing import FakeClock


@pytest.fixture
def clock():
    """Stands still at the first second of 2026 until a test moves it."""
    return FakeClock()


@pytest.fixture(params=["in-memory", "sqlite"])
def url(request, tmp_path):
    """Where the memory lives: behaviour is the same on both."""
    return "memory://" if request.param == "in-memory" else str(tmp_path / "agent.db")


@pytest.fixture
def opened(url, clock):
    """The handles that a test has opened; the last one is the current one."""
    handles = [holdfast.open(url, clock=clock)]
    yield handles
    for handle in handles:
        handle.close()


@pytest.fixture
def memory(opened):
    """An open, empty memory."""
    return opened[-1]


@pytest.fixture
def reopen(url, clock, opened):
    """Close and open again, as the next process would; in memory nothing outlives its handle."""

    def again():
        if url != "memory://":
            opened[-1].close()
            opened.append(holdfast.open(url, clock=clock))
        return opened[-1]

    return again


@pytest.fixture
def alice(memory):
    """The agent 'support' working for alice."""
    return memory.scope(user="alice", agent="support", tenant="acme")


@pytest.fixture
def bob(memory):
    """The same agent working for bob."""
    return memory.scope(user="bob", agent="support", tenant="acme")


@pytest.fixture
def thread(alice):
    """A thread of alice's."""
    return alice.thread("q4-report")
