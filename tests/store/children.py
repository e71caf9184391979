"""What tests have done by processes of their own: `python -m tests.store.children NAME ARGUMENTS`.

Each answers with JSON. A process of its own can be killed, can drop its rights, can fork
without threads of the test runner in it, and can read a database's bytes without dropping the
locks that POSIX ties to a process.
"""

import json
import os
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

import holdfast
from holdfast.store.sqlite import migrate
from holdfast.testing import faults

ROOT = Path(__file__).resolve().parents[2]
CANARY = "canary7f3a"
EXTRA = (2, "0002_extra", "0.2.0", "CREATE TABLE extra (n INTEGER PRIMARY KEY) STRICT;\n")


def start(name, *arguments):
    """A child at work; its answer is read from its output."""
    path = os.pathsep.join([str(Path(holdfast.__file__).parents[1]), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.children", name, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
    )


def answer(child):
    """What a child said, once it has ended; None when it was killed."""
    said, _ = child.communicate(timeout=120)
    assert child.returncode <= 0, f"the child failed with {child.returncode}"
    return json.loads(said) if said else None


def run(name, *arguments):
    """Start a child and wait for its answer."""
    return answer(start(name, *arguments))


def write(path, user, count):
    """Write as one of several processes; the ids of what was acknowledged."""
    with holdfast.open(path) as memory:
        scope = memory.scope(user=user)
        ids = [
            scope.thread("q4").add("user", f"{user} {number}").id for number in range(int(count))
        ]
        scope.remember(f"{user} was here")
        memory.scope(agent="shared").remember("Everybody was here", source=user)
    return ids


def files_with(folder, word):
    """Names of the files in a folder whose bytes hold the word."""
    files = sorted(Path(folder).iterdir())
    return [file.name for file in files if word.encode() in file.read_bytes()]


def leave_traces(path):
    """Fill every table with words of one user, beside another user's."""
    with holdfast.open(path) as memory:
        other = memory.scope(user="bob")
        user = memory.scope(user=CANARY, agent="support")
        for number in range(20):
            other.thread("q4").add("user", f"message {number}")
            user.thread(f"{CANARY} thread").add("user", f"{CANARY} message {number}")
        user.remember(f"{CANARY} fact", key=CANARY, source=CANARY, tags=[CANARY], private=True)
        user.remember(f"{CANARY} long " * 2_000, kind=CANARY, idempotency_key=CANARY)
        user.preferences[CANARY] = CANARY
        thread = user.thread(f"{CANARY} thread")
        thread.checkpoint({"draft": CANARY * 1_000})
        thread.note("insight", CANARY, payload={CANARY: CANARY})
        thread.once(CANARY, lambda text: text, CANARY)
        memory.scope(agent="support").remember(f"{CANARY} pays late", about=CANARY)
        user.recall(CANARY)
    return files_with(Path(path).parent, CANARY)


class Careless(sqlite3.Connection):
    """A connection on which deleted bytes stay where they were."""

    def execute(self, sql, *rest):
        """Do the opposite of what is asked in this one point."""
        return super().execute(sql.replace("secure_delete = ON", "secure_delete = OFF"), *rest)


def forget(path, secure):
    """Forget the user; files that still hold the words before and after closing."""
    if secure != "yes":
        sqlite3.connect = partial(sqlite3.connect, factory=Careless)
    with holdfast.open(path) as memory:
        receipt = memory.forget(user=CANARY)
        still_open = run("files_with", Path(path).parent, CANARY)
    return [receipt.total, receipt.pending, still_open, files_with(Path(path).parent, CANARY)]


def make_and_die(path, point):
    """Begin to make a database, and be killed at a point of it."""
    faults.kill_at(point)
    holdfast.open(path)


def extend(path, point):
    """Open with a migration that was never released; be killed at a point, if one is named."""
    known = migrate.migrations()
    migrate.migrations = lambda: [*known, EXTRA]
    if point:
        faults.kill_at(point)
    with holdfast.open(path) as memory:
        return [hit.text for hit in memory.scope(user="alice").records()]


def fork(path):
    """Fork with an open memory; both sides write and read, before and after."""
    with holdfast.open(path) as memory:
        scope = memory.scope(user="alice")
        scope.remember("said before the fork")
        child = os.fork()
        if child == 0:
            scope.remember("said by the child")
            found = len(scope.records())
            memory.close()
            os._exit(found)
        scope.remember("said by the parent meanwhile")
        _, status = os.waitpid(child, 0)
        scope.remember("said after the child had ended")
        seen = sorted(hit.text for hit in scope.records())
    return [os.waitstatus_to_exitcode(status), seen]


def outlive(path):
    """Fork, close the parent's handle while the child still writes; what a new handle sees."""
    memory = holdfast.open(path)
    scope = memory.scope(user="alice")
    scope.remember("before the fork")
    ready, closed = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        scope.remember("child 0")
        os.write(ready[1], b".")
        os.read(closed[0], 1)
        for number in range(1, 5):
            scope.remember(f"child {number}")
        os._exit(0)
    os.read(ready[0], 1)
    memory.close()
    os.write(closed[1], b".")
    os.waitpid(child, 0)
    with holdfast.open(path) as again:
        return [hit.text for hit in reversed(again.scope(user="alice").records())]


def claim_and_fork(path):
    """Fork inside a step: the child is another worker, and its end does not end the parent's."""
    with holdfast.open(path) as memory:
        thread = memory.scope(user="alice").thread("q4")

        def effect():
            child = os.fork()
            if child == 0:
                memory.close()
                os._exit(0)
            os.waitpid(child, 0)
            return run("status", path)

        return thread.once("send", effect)


def status(path):
    """What another process is told about the step."""
    with holdfast.open(path) as memory:
        return memory.scope(user="alice").thread("q4").step_status("send")


def die_in_a_step(path):
    """Be killed between the claim and the result."""
    with holdfast.open(path) as memory:
        memory.scope(user="alice").thread("q4").once("send", lambda: os.kill(os.getpid(), 9))


def without_rights(folder):
    """Open a database in a folder where this user may only read; what each way of opening gives."""
    path = Path(folder) / "agent.db"
    with holdfast.open(path) as memory:
        memory.scope(user="alice").remember("Prefers reports in CSV format")
    path.chmod(0o644)
    Path(folder).chmod(0o555)
    if os.geteuid() == 0:
        os.setuid(65_534)
    return [outcome(path), outcome(path, read_only=True), outcome(Path(folder) / "new.db")]


def outcome(path, **how):
    """The facts that were read, or the name and the hint of the error."""
    try:
        with holdfast.open(path, **how) as memory:
            return [hit.text for hit in memory.scope(user="alice").records()]
    except holdfast.HoldfastError as error:
        return [type(error).__name__, error.hint]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
