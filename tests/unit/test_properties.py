"""The public API against a plain dictionary: any order of verbs, reopened now and then.

The model keeps what a user would expect to be told; after every step all reading verbs must tell
exactly that. A failure prints the steps that lead to it, and they replay.
"""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import holdfast
from holdfast.testing import FakeClock

USERS = st.sampled_from(["alice", "bob"])
THREADS = st.sampled_from(["q4", "user/notes"])
TEXTS = st.sampled_from(["Prefers CSV", "Prefers XML", "Lives in Graz", "🦊"])
KEYS = st.none() | st.sampled_from(["format", "home"])
VALUES = st.sampled_from(["dark", "", 5, True, [1], {"a": None}])
STATES = st.dictionaries(st.sampled_from("ab"), st.integers(0, 3), max_size=2)


class Known:
    """What one user should be told."""

    def __init__(self):
        self.facts = {}
        self.preferences = {}
        self.episodes = {}
        self.states = {}
        self.keyed = {}


class Model(RuleBasedStateMachine):
    """Random verbs on a memory, and the same on dictionaries."""

    durable = False

    @initialize()
    def open(self):
        """Begin with an empty memory."""
        self.clock = FakeClock()
        self.folder = tempfile.mkdtemp(prefix="holdfast-model-")
        self.url = str(Path(self.folder) / "agent.db") if self.durable else "memory://"
        self.memory = holdfast.open(self.url, clock=self.clock)
        self.known = {"alice": Known(), "bob": Known()}

    def scope(self, user):
        """The handle of a user."""
        return self.memory.scope(user=user, agent="support", tenant="acme")

    @rule(user=USERS, text=TEXTS, key=KEYS)
    def remember(self, user, text, key):
        """A fact is added, merged, or takes the place of its key."""
        place = (key, "" if key else text)
        before = self.known[user].facts.get(place)

        receipt = self.scope(user).remember(text, key=key)

        expected = "added" if before is None else "merged" if before[1] == text else "superseded"
        assert receipt.action == expected
        assert (receipt.id == (before or [None])[0]) == (expected == "merged")
        self.known[user].facts[place] = (receipt.id, text)

    @rule(user=USERS, text=TEXTS, pick=st.integers(0, 9))
    def edit(self, user, text, pick):
        """A fact says something else, unless another one says that already."""
        facts = self.known[user].facts
        if not facts:
            return
        place = sorted(facts, key=repr)[pick % len(facts)]
        id, _ = facts[place]
        wanted = (place[0], "" if place[0] else text)

        try:
            self.scope(user).edit(id, text=text)
        except holdfast.Conflict:
            assert wanted in facts
            assert wanted != place
        else:
            assert wanted == place or wanted not in facts
            del facts[place]
            facts[wanted] = (id, text)

    @rule(user=USERS, key=st.sampled_from(["theme", "units"]), value=VALUES)
    def prefer(self, user, key, value):
        """A preference is set."""
        self.scope(user).preferences[key] = value
        self.known[user].preferences[key] = value

    @rule(user=USERS, key=st.sampled_from(["theme", "units"]))
    def prefer_no_longer(self, user, key):
        """A preference is deleted, if there is one."""
        gone = self.known[user].preferences.pop(key, None)
        assert self.scope(user).preferences.delete(key).empty == (gone is None)

    @rule(user=USERS, id=THREADS, text=TEXTS)
    def add(self, user, id, text):
        """A message is appended."""
        receipt = self.scope(user).thread(id).add("user", text)
        self.known[user].episodes.setdefault(id, {})[receipt.id] = text

    @rule(user=USERS, id=THREADS, texts=st.lists(TEXTS, max_size=3), state=STATES)
    def batch(self, user, id, texts, state):
        """Messages and a state are written together."""
        with self.scope(user).thread(id).batch() as batch:
            for text in texts:
                batch.add("assistant", text)
            batch.checkpoint(state)
        said = self.known[user].episodes.setdefault(id, {})
        said.update(zip([receipt.id for receipt in batch.receipts], texts, strict=False))
        self.known[user].states.setdefault(id, []).append(state)

    @rule(user=USERS, id=THREADS, state=STATES, behind=st.integers(0, 1))
    def checkpoint(self, user, id, state, behind):
        """A state is saved if the expectation holds, else refused."""
        states = self.known[user].states.setdefault(id, [])
        thread = self.scope(user).thread(id)
        if behind and states:
            try:
                thread.checkpoint(state, expected=len(states) - 1)
            except holdfast.Conflict:
                return
            raise AssertionError("a stale checkpoint was taken")
        assert thread.checkpoint(state, expected=len(states)).number == len(states) + 1
        states.append(state)

    @rule(user=USERS, key=st.sampled_from(["k1", "k2"]), text=TEXTS)
    def keyed(self, user, key, text):
        """The first write under a key is the only one."""
        before = self.known[user].keyed.get(key)
        try:
            receipt = self.scope(user).thread("q4").add("user", text, idempotency_key=key)
        except holdfast.Conflict:
            assert before is not None
            assert before[1] != text or before[0] is None
            return
        if before is None:
            self.known[user].episodes.setdefault("q4", {})[receipt.id] = text
            self.known[user].keyed[key] = (receipt.id, text)
        else:
            assert before == (receipt.id, text)

    @rule(user=USERS, pick=st.integers(0, 9))
    def forget_a_record(self, user, pick):
        """One of what is there goes for good."""
        known = self.known[user]
        ids = sorted(
            [id for id, _ in known.facts.values()]
            + [id for said in known.episodes.values() for id in said]
        )
        if not ids:
            return
        id = ids[pick % len(ids)]
        assert self.scope(user).forget(id).total >= 1
        known.facts = {place: fact for place, fact in known.facts.items() if fact[0] != id}
        for said in known.episodes.values():
            said.pop(id, None)
        self.receipts_go(known, {id})

    @rule(user=USERS, id=THREADS)
    def forget_a_thread(self, user, id):
        """Its messages and states go."""
        known = self.known[user]
        said, states = known.episodes.pop(id, {}), known.states.pop(id, [])
        assert self.scope(user).thread(id).forget().total == len(said) + len(states)
        self.receipts_go(known, set(said))

    @rule(user=USERS)
    def forget_a_user(self, user):
        """Everything of a user goes; the keys stay used."""
        self.memory.forget(user=user, tenant="acme")
        keys = self.known[user].keyed
        self.known[user] = Known()
        self.known[user].keyed = {key: (None, text) for key, (_, text) in keys.items()}

    def receipts_go(self, known, ids):
        """A late retry of what was forgotten is refused."""
        for key, (id, text) in known.keyed.items():
            if id in ids:
                known.keyed[key] = (None, text)

    @rule(seconds=st.integers(-100, 100))
    def time_passes(self, seconds):
        """Or goes back."""
        self.clock.advance(seconds=seconds)

    @rule(user=USERS)
    def recall(self, user):
        """Recalls are counted somewhere; nothing that is shown changes by it."""
        self.scope(user).recall("Prefers")
        self.memory.flush()

    @precondition(lambda self: self.durable)
    @rule()
    def reopen(self):
        """As the next process would."""
        self.memory.close()
        self.memory = holdfast.open(self.url, clock=self.clock)

    @invariant()
    def what_is_read_is_what_was_written(self):
        """By every reading verb, for both users."""
        for user, known in self.known.items():
            scope = self.scope(user)
            facts = {hit.id: hit.text for hit in scope.records(kinds=["fact"], limit=1_000)}
            assert facts == dict(known.facts.values())
            assert dict(scope.preferences) == known.preferences
            assert {hit.text for hit in scope.recall("Prefers", kinds=["fact"])} == {
                text for text in facts.values() if "Prefers" in text
            }
            self.each_thread_is_as_written(scope, known)

    def each_thread_is_as_written(self, scope, known):
        """Its episodes in order, its newest state, its number."""
        for id in ("q4", "user/notes"):
            thread = scope.thread(id)
            said, states = known.episodes.get(id, {}), known.states.get(id, [])
            assert [(e.id, e.text) for e in thread.episodes()] == [*said.items()]
            assert [m["content"] for m in thread.messages()] == [*said.values()][-20:]
            assert thread.restore() == (states[-1] if states else None)

    def teardown(self):
        """Close, and leave nothing behind."""
        if hasattr(self, "memory"):
            self.memory.close()
            shutil.rmtree(self.folder)


class DurableModel(Model):
    """The same on a file."""

    durable = True


TestInMemory = Model.TestCase
TestInMemory.settings = settings(max_examples=40, stateful_step_count=30)
TestOnAFile = DurableModel.TestCase
TestOnAFile.settings = settings(max_examples=40, stateful_step_count=30)
