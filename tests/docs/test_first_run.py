"""The first run asks no network: in a namespace without a route, and by audit of each call."""

import subprocess
import sys

AUDITED = """
import sys

def watch(event, arguments):
    if event.startswith("socket.") or event in ("urllib.Request", "http.client.connect"):
        raise SystemExit(f"a network call: {event}")

sys.addaudithook(watch)
import holdfast

with holdfast.open("agent.db") as memory:
    alice = memory.scope(user="alice", agent="support")
    alice.remember("Prefers reports in CSV format")
    alice.preferences["timezone"] = "US/Pacific"
    thread = alice.thread("q4")
    thread.add("user", "Find the Q4 revenue report")
    assert alice.recall("how should the report look?", budget_tokens=200)
    assert "CSV" in alice.inject("You are a careful analyst.", query="report")
    assert thread.messages(budget_tokens=500)
    assert thread.welcome_back()
    memory.forget(user="alice")
print("quiet")
"""


def test_the_demo_runs_where_there_is_no_network():
    """A namespace of its own has no route and not even a loopback that is up."""
    shown = subprocess.run(
        ["unshare", "--map-root-user", "--net", sys.executable, "-m", "holdfast", "demo"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert shown.returncode == 0, shown.stderr
    assert "Welcome back. You left off at:" in shown.stdout


def test_no_call_of_a_first_run_touches_the_network(tmp_path):
    """The tokenizer too comes with its vocabulary."""
    run = subprocess.run(
        [sys.executable, "-c", AUDITED], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (run.stdout.strip(), run.returncode) == ("quiet", 0), run.stderr
