"""The demo: one process records and is killed with SIGKILL, another one takes up where it stopped.

Both are real processes that share nothing but the file.
"""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from .. import open as open_memory
from ..errors import Misconfigured

_USER, _AGENT, _THREAD = "alice", "analyst", "q4-report"
_SENDING = "sending"


def demo(*, keep: str | None = None) -> int:
    """Run the story in a temporary folder, or in a file that is kept."""
    if keep is not None:
        path = Path(keep).resolve()
        if path.exists():
            raise Misconfigured("The file exists already.", hint="Name a new one for --keep.")
        open_memory(path).close()  # what is wrong with the place is said here, not by a child
        return _tell(path)
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        return _tell(Path(folder) / "agent.db")


def _tell(path: Path) -> int:
    print(f"An agent works for {_USER}. Its memory is one file: {path.name}\n")
    with _run("work", path, subprocess.PIPE) as worker:
        assert worker.stdout is not None
        for line in worker.stdout:
            if line.strip() == _SENDING:
                break
            print(f"  [process {worker.pid}] {line.rstrip()}", flush=True)
        worker.kill()
    if worker.returncode != -signal.SIGKILL:
        print("  The first process ended by itself.", file=sys.stderr)
        return 1
    print(f"\n  kill -9 {worker.pid}  (in the middle of sending the mail)\n", flush=True)
    with _run("resume", path, None) as heir:
        pass
    if heir.returncode == 0:
        print("\nNothing acknowledged was lost, and the mail was not sent twice behind your back.")
    return heir.returncode


def _run(part: str, path: Path, output: int | None) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", __spec__.name, part, str(path)]
    return subprocess.Popen(command, stdout=output, text=True)


def _work(path: Path) -> None:
    with open_memory(path) as memory:
        alice = memory.scope(user=_USER, agent=_AGENT)
        thread = alice.thread(_THREAD)
        thread.add("user", "Find the Q4 revenue and mail the report to finance.")
        _say("user:      Find the Q4 revenue and mail the report to finance.")
        alice.remember("Prefers reports in CSV format", source=_THREAD)
        alice.preferences["timezone"] = "US/Pacific"
        _say("learned:   Prefers reports in CSV format; timezone US/Pacific")
        with thread.batch() as batch:
            batch.add("assistant", "Q4 revenue is 4.2 million. Sending the report now.")
            batch.checkpoint({"done": ["fetch", "draft"], "next": "send"})
            batch.remember("Q4 revenue is 4.2 million")
        _say("assistant: Q4 revenue is 4.2 million. Sending the report now.")
        thread.once("send_mail", _send_mail)


def _send_mail() -> None:
    _say(_SENDING)
    time.sleep(60)


def _resume(path: Path) -> None:
    with open_memory(path) as memory:
        alice = memory.scope(user=_USER, agent=_AGENT)
        thread = alice.thread(_THREAD)
        _say(f"  {thread.welcome_back()}")
        _say(f"  messages:     {len(thread.messages())} of 2, state: {thread.restore()}")
        _say(f"  preferences:  {dict(alice.preferences)}")
        found = alice.recall("how should the report look?", kinds=["fact"], limit=1)
        _say(f"  recall:       {found[0].text!r}, learned in {found[0].source}")
        _say(
            f"  send_mail is: {thread.step_status('send_mail')} (it may have gone out: you decide)"
        )


def _say(line: str) -> None:
    print(line, flush=True)


_PARTS: dict[str, Callable[[Path], None]] = {"work": _work, "resume": _resume}

if __name__ == "__main__":
    _PARTS[sys.argv[1]](Path(sys.argv[2]))
