"""Preferences: a mapping of plain values that never expire, read narrowest first."""

import pytest

import holdfast


def test_a_preference_is_found_by_its_key(alice, reopen):
    """It is kept when the program ends."""
    alice.preferences["timezone"] = "US/Pacific"

    again = reopen().scope(user="alice", tenant="acme")

    assert again.preferences["timezone"] == "US/Pacific"


@pytest.mark.parametrize(
    "value",
    ["US/Pacific", "", " ", "5", 5, 5.0, True, False, 0, [], {}, ["a", None], {"a": {"b": [1]}}],
    ids=repr,
)
def test_a_value_comes_back_as_it_was_given(alice, value):
    """Of the same type: a number is no text, and an empty text is no pair of quotes."""
    alice.preferences["value"] = value

    found = alice.preferences["value"]

    assert (found, type(found)) == (value, type(value))


def test_a_new_value_takes_the_place_of_the_old_one(alice):
    """There is one value under a key."""
    added = alice.preferences.set("theme", "dark", source="settings")

    superseded = alice.preferences.set("theme", "light")

    assert (added.action, superseded.action) == ("added", "superseded")
    assert dict(alice.preferences) == {"theme": "light"}


def test_a_text_and_the_number_that_looks_like_it_are_two_values(alice):
    """Changing the type is a change."""
    alice.preferences["limit"] = "5"
    alice.preferences["limit"] = 5

    assert alice.preferences["limit"] == 5


def test_it_behaves_as_a_mapping(alice):
    """Whatever works on a dictionary works here."""
    preferences = alice.preferences

    preferences.update({"theme": "dark", "timezone": "UTC"})
    popped = preferences.pop("theme")

    assert popped == "dark"
    assert dict(preferences.items()) == {"timezone": "UTC"}
    assert len(preferences) == 1
    assert "theme" not in preferences
    assert preferences.get("theme", "light") == "light"


def test_a_key_that_is_not_there_is_a_key_error(alice):
    """As in any mapping; `delete` answers with an empty receipt instead."""
    with pytest.raises(KeyError):
        alice.preferences["theme"]
    with pytest.raises(KeyError):
        del alice.preferences["theme"]

    assert alice.preferences.delete("theme").empty


def test_a_deleted_preference_is_gone_with_its_history(alice):
    """Every value that it ever had."""
    alice.preferences["theme"] = "dark"
    alice.preferences["theme"] = "light"

    receipt = alice.preferences.delete("theme")

    assert receipt.counts == {"facts": 2}
    assert dict(alice.preferences) == {}
    assert list(alice.recall("dark light theme")) == []


def test_preferences_are_read_narrowest_first(memory, alice, bob):
    """The user's own beats the agent's, which beats the tenant's."""
    memory.common(tenant="acme").preferences.update(theme="system", language="en", units="SI")
    memory.scope(agent="support", tenant="acme").preferences.update(theme="dark", language="de")
    alice.preferences["theme"] = "light"

    assert dict(alice.preferences) == {"theme": "light", "language": "de", "units": "SI"}
    assert dict(bob.preferences) == {"theme": "dark", "language": "de", "units": "SI"}


def test_a_private_preference_is_narrower_than_the_users(memory, alice):
    """One agent may know better; the others read the user's."""
    alice.preferences["tone"] = "formal"
    alice.remember("casual", kind="preference", key="tone", private=True)

    assert alice.preferences["tone"] == "casual"
    assert memory.scope(user="alice", agent="billing", tenant="acme").preferences["tone"] == (
        "formal"
    )


def test_what_is_known_about_another_is_no_preference_of_this_user(alice):
    """A colleague's timezone is not hers."""
    alice.preferences["timezone"] = "UTC"
    alice.remember("US/Pacific", kind="preference", key="timezone", about="bob")

    assert dict(alice.preferences) == {"timezone": "UTC"}


def test_preferences_never_expire(alice, clock):
    """No clock ends them."""
    alice.preferences["timezone"] = "UTC"

    clock.advance(days=365 * 100)

    assert alice.preferences["timezone"] == "UTC"


def test_a_preference_is_a_fact_and_is_recalled(alice):
    """By its key and by its value."""
    alice.preferences["timezone"] = "US/Pacific"

    (found,) = alice.recall("which timezone?")

    assert (found.kind, found.key, found.text) == ("preference", "timezone", "US/Pacific")


def test_what_is_anothers_is_not_deleted(memory, alice):
    """What the tenant prefers is read here and deleted there."""
    memory.common(tenant="acme").preferences["units"] = "SI"

    receipt = alice.preferences.delete("units")

    assert receipt.empty
    assert dict(alice.preferences) == {"units": "SI"}


@pytest.mark.parametrize("value", [None, {1}, {1: "a"}, ("a",), float("nan"), b"a"], ids=repr)
def test_what_is_no_plain_value_is_refused(alice, value):
    """It would come back as something else."""
    with pytest.raises(holdfast.InvalidInput) as caught:
        alice.preferences["theme"] = value

    assert caught.value.hint
    assert dict(alice.preferences) == {}


@pytest.mark.parametrize("key", ["", "*", 5, "a\0b"])
def test_a_key_is_an_id(alice, key):
    """Reserved, empty or foreign keys are refused before anything is stored."""
    with pytest.raises(holdfast.InvalidInput) as caught:
        alice.preferences[key] = "dark"

    assert caught.value.hint
