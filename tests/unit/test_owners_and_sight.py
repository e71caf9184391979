"""Who reads what: four places, narrowest first, and nothing else by any verb."""

import pytest

import holdfast

PREFERS_CSV = "Prefers reports in CSV format"

# What people and programs use as ids, and what others try to smuggle in as one.
ODD_IDS = [
    "../../etc/passwd",
    "a/b\\c",
    "quote'and\"quote",
    "'; DROP TABLE records; --",
    "100%_like",
    "🦊 fox",
    "用户",
    "with space and\nline",
    "NULL",
    "-1",
    "x" * 512,
]


def texts(scope):
    """All that a scope sees, as texts."""
    return {hit.text for hit in scope.records()}


def test_every_agent_of_a_user_reads_what_is_the_users(memory, alice):
    """What a user told one agent is known to the next one."""
    billing = memory.scope(user="alice", agent="billing", tenant="acme")

    alice.remember(PREFERS_CSV)

    assert texts(billing) == {PREFERS_CSV}


def test_no_scope_reads_another_users_records(alice, bob):
    """Not in a listing, not by recall, not by id."""
    receipt = alice.remember(PREFERS_CSV)

    seen = [*bob.records(), *bob.recall("reports in CSV"), *bob.recall()]

    assert seen == []
    assert bob.get(receipt.id) is None


def test_no_scope_reads_another_tenants_records(memory, alice):
    """The same user id in two tenants is two people."""
    elsewhere = memory.scope(user="alice", agent="support", tenant="globex")

    receipt = alice.remember(PREFERS_CSV)

    assert texts(elsewhere) == set()
    assert elsewhere.get(receipt.id) is None


def test_a_private_record_is_read_by_its_agent_alone(memory, alice):
    """`private=True` keeps it between one agent and one user."""
    billing = memory.scope(user="alice", agent="billing", tenant="acme")
    nobody_in_particular = memory.scope(user="alice", tenant="acme")

    alice.remember("Was short with us today", private=True)

    assert texts(alice) == {"Was short with us today"}
    assert texts(billing) == texts(nobody_in_particular) == set()


@pytest.mark.parametrize("parts", [{"user": "alice"}, {"agent": "support"}, {}])
def test_a_private_record_needs_an_agent_and_a_user(memory, parts):
    """Half of the pair would make it public to the other half."""
    scope = memory.scope(**parts)

    with pytest.raises(holdfast.InvalidInput, match="one agent of one user"):
        scope.remember("Was short with us today", private=True)


def test_what_an_agent_knows_itself_is_read_for_whomever_it_works(memory, alice, bob):
    """An agent's own knowledge is not its users'."""
    support = memory.scope(agent="support", tenant="acme")

    support.remember("Refunds above 500 need a second person")

    assert texts(alice) == texts(bob) == {"Refunds above 500 need a second person"}
    assert texts(memory.scope(user="alice", agent="billing", tenant="acme")) == set()


def test_in_an_agents_own_place_another_users_data_is_not_seen(memory, alice, bob):
    """What the agent noted about bob is kept from whoever works for alice."""
    support = memory.scope(agent="support", tenant="acme")

    about_bob = support.remember("Bob pays late", about="bob")

    assert texts(support) == texts(bob) == {"Bob pays late"}
    assert texts(alice) == set()
    assert alice.get(about_bob.id) is None


def test_common_knowledge_is_read_by_every_scope_of_the_tenant(memory, alice, bob):
    """And by no other tenant's."""
    memory.common(tenant="acme").remember("The office closes at six")

    assert texts(alice) == texts(bob) == {"The office closes at six"}
    assert texts(memory.scope(agent="support", tenant="acme")) == {"The office closes at six"}
    assert texts(memory.scope(user="alice", tenant="globex")) == set()


def test_nothing_becomes_common_because_an_argument_was_forgotten(memory, alice):
    """A scope without parts is a single-user program's own place."""
    memory.scope().remember("Mine alone")

    assert texts(memory.scope()) == {"Mine alone"}
    assert texts(alice) == texts(memory.scope(user="alice")) == set()
    assert texts(memory.common()) == set()


def test_a_scope_without_a_user_reads_no_users_records(memory, alice):
    """An agent that works for nobody in particular sees what is its own."""
    alice.remember(PREFERS_CSV)
    alice.remember("Was short with us today", private=True)

    assert texts(memory.scope(agent="support", tenant="acme")) == set()
    assert texts(memory.scope(tenant="acme")) == set()


@pytest.mark.parametrize("part", ["user", "agent", "tenant"])
def test_the_star_is_refused_as_an_id(memory, part):
    """It stands for everyone, and nobody may be called so."""
    with pytest.raises(holdfast.InvalidInput, match="reserved") as caught:
        memory.scope(**{part: "*"})

    assert "memory.common" in caught.value.hint


def test_the_common_place_cannot_be_reached_as_a_user(memory):
    """Neither to write it nor to erase it."""
    with pytest.raises(holdfast.InvalidInput, match="reserved"):
        memory.forget(user="*")


@pytest.mark.parametrize("odd", ODD_IDS)
def test_any_text_is_an_id(memory, reopen, odd):
    """No id ever becomes a path or a piece of SQL, so none needs escaping."""
    odd_one = memory.scope(user=odd, agent=odd, tenant=odd)
    odd_one.remember(PREFERS_CSV, key=odd, kind=odd, source=odd)
    odd_one.thread(odd).add("user", "Find the report")

    again = reopen()

    odd_one = again.scope(user=odd, agent=odd, tenant=odd)
    assert texts(odd_one) == {PREFERS_CSV, "Find the report"}
    assert [episode.text for episode in odd_one.thread(odd).episodes()] == ["Find the report"]
    assert texts(again.scope(user="alice", agent="support", tenant="acme")) == set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"user": "ab", "agent": "c"}, {"user": "a", "agent": "bc"}),
        ({"user": "a"}, {"user": "A"}),
        ({"user": "\u00e9"}, {"user": "e\u0301"}),
        ({"user": "a"}, {"user": "a "}),
        ({"user": "a%"}, {"user": "ab"}),
        ({"tenant": "a", "user": "b"}, {"tenant": "b", "user": "a"}),
        ({"user": "a\x1fb"}, {"user": "a", "agent": "b"}),
    ],
)
def test_ids_that_look_alike_are_different_people(memory, one, other):
    """Ids are compared byte for byte: guessing that two are one would leak."""
    memory.scope(**one).remember(PREFERS_CSV)

    assert texts(memory.scope(**other)) == set()


class TestAnIdThatMayNotBeSeen:
    """It answers exactly like one that does not exist, in every verb."""

    UNKNOWN = "00000000-0000-7000-8000-000000000000"

    @pytest.fixture(
        params=["another user's", "private", "about another", "another tenant's", "a state"]
    )
    def unseen(self, request, memory, alice):
        """The id of a record that alice's agent has no right to see."""
        other_agent = memory.scope(user="alice", agent="billing", tenant="acme")
        support = memory.scope(agent="support", tenant="acme")
        return {
            "another user's": lambda: memory.scope(user="bob", tenant="acme").remember("Late"),
            "private": lambda: other_agent.remember("Late", private=True),
            "about another": lambda: support.remember("Late", about="bob"),
            "another tenant's": lambda: memory.scope(user="alice").remember("Late"),
            "a state": lambda: alice.thread("q4").checkpoint({"step": 1}),
        }[request.param]().id

    def test_get_finds_nothing(self, alice, unseen):
        """None, as for an id that was never given out."""
        assert alice.get(unseen) is alice.get(self.UNKNOWN) is None

    def test_edit_does_not_know_it(self, alice, unseen):
        """The same error with the same words."""
        with pytest.raises(holdfast.NotFound) as refused:
            alice.edit(unseen, text="Pays early")
        with pytest.raises(holdfast.NotFound) as unknown:
            alice.edit(self.UNKNOWN, text="Pays early")

        assert str(refused.value) == str(unknown.value)
        assert refused.value.hint == unknown.value.hint

    def test_forget_erases_nothing(self, alice, unseen):
        """The same empty receipt."""
        assert alice.forget(unseen) == alice.forget(self.UNKNOWN)
        assert alice.forget(unseen).empty

    def test_restore_does_not_know_it(self, alice, unseen):
        """No state is found under it in a thread that is not the state's."""
        with pytest.raises(holdfast.NotFound) as refused:
            alice.thread("another").restore(unseen)
        with pytest.raises(holdfast.NotFound) as unknown:
            alice.thread("another").restore(self.UNKNOWN)

        assert str(refused.value) == str(unknown.value)

    def test_forgetting_it_leaves_it_where_it_is(self, memory, alice, bob):
        """A refused erasure must not erase."""
        receipt = bob.remember("Pays late")

        alice.forget(receipt.id)

        assert bob.get(receipt.id).text == "Pays late"


def test_what_may_be_seen_but_is_not_ones_own_cannot_be_changed(memory, alice):
    """Common knowledge is written by memory.common alone."""
    common = memory.common(tenant="acme").remember("The office closes at six")

    with pytest.raises(holdfast.Denied, match="not this scope's"):
        alice.edit(common.id, text="The office never closes")
    with pytest.raises(holdfast.Denied, match="not this scope's"):
        alice.forget(common.id)

    assert alice.get(common.id).text == "The office closes at six"


def test_the_author_is_kept(memory, alice):
    """Whoever reads a shared fact sees which agent wrote it."""
    receipt = alice.remember(PREFERS_CSV)

    seen = memory.scope(user="alice", agent="billing", tenant="acme").get(receipt.id)

    assert seen.author == "support"
    assert seen.subject == "alice"


def test_threads_with_one_id_belong_to_different_owners(alice, bob):
    """A thread's id is unique within its owner only."""
    alice.thread("q4").add("user", "Find the report")

    assert bob.thread("q4").episodes() == []
    assert bob.thread("q4").restore() is None


@pytest.mark.parametrize(
    ("user", "thread_id"),
    [
        ("alice", "user-alice-session-1"),
        ("alice/ops", "user-alice%2Fops-session-1"),
        ("ålice", "user-%C3%A5lice-session-x-session-y"),
        ("alice", "user-alice"),
        ("alice", "my-user-bob-session-1"),
        ("alice", "User-bob-session-1"),
    ],
)
def test_an_id_that_names_the_scopes_own_user_is_welcome(memory, user, thread_id):
    """So is one that only looks a little like that form."""
    thread = memory.scope(user=user).thread(thread_id)

    thread.add("user", "Find the report")

    assert thread.id == thread_id
    assert len(thread.messages()) == 1


@pytest.mark.parametrize(
    ("parts", "thread_id"),
    [
        ({"user": "alice"}, "user-bob-session-1"),
        ({"user": "alice/ops"}, "user-alice/ops-session-1"),
        ({"user": "ali"}, "user-alice-session-1"),
        ({"agent": "support"}, "user-alice-session-1"),
        ({}, "user--session-1"),
    ],
)
def test_an_id_that_names_another_user_is_denied(memory, parts, thread_id):
    """A mistaken id must not mix two people's conversations."""
    with pytest.raises(holdfast.Denied, match="another user") as caught:
        memory.scope(**parts).thread(thread_id)

    assert "memory.scope(user=...)" in caught.value.hint
