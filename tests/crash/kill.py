"""Kills real writers, again and again on the same file, and has a fresh process check after each
kill.

Delays are log-uniform and counted from the first word of the writer, so that most kills fall inside
a write and some into the opening, where the recovery from the last kill is going on. Every second
check ends without closing the store, so that the next writer recovers what the one before it left.
"""

import json
import math
import os
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .invariants import Violation
from .questions import Answer, Request
from .story import Log

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60


@dataclass(frozen=True)
class Crew:
    """Who writes: the store and its habit, and how many processes and threads."""

    store: str
    habit: str
    processes: int = 1
    threads: int = 1

    def __str__(self) -> str:
        size = "" if self.processes * self.threads == 1 else f" {self.processes}x{self.threads}"
        return f"{self.store} {self.habit}{size}"


@dataclass
class Tally:
    """What a number of kills came to."""

    kills: int = 0
    in_write: int = 0
    in_step: int = 0
    in_open: int = 0
    turns: int = 0
    in_doubt: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def take(self, other: "Tally") -> None:
        """Add the figures of another."""
        for name in ("kills", "in_write", "in_step", "in_open", "turns", "in_doubt"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.violations += other.violations
        self.examples = (self.examples + other.examples)[:10]

    def add(self, found: Iterable[Violation], where: str) -> None:
        """Count violations and keep the first few as they were seen."""
        for violation in found:
            self.violations[violation.name] += 1
            if len(self.examples) < 10:
                self.examples.append(f"{where}: {violation.name}: {violation.what}")


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """The parent's environment, in which a child finds this package and holdfast."""
    paths = [str(ROOT), *(path for path in sys.path if path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(extra or {})}


@dataclass
class Site:
    """One file under test, with the effects and the log of all who wrote to it."""

    folder: Path
    log: Log = field(default_factory=Log)

    @property
    def path(self) -> Path:
        return self.folder / "agent.db"

    @property
    def effects(self) -> Path:
        return self.folder / "effects"

    def request(self, crew: Crew, *, leave: bool = False) -> Request:
        """What the checker is asked about this file."""
        paths = (str(self.path), str(self.effects))
        return Request(crew.store, crew.habit, *paths, self.log.lines(), leave=leave)


class Child:
    """A writer process and what it has said so far."""

    def __init__(self, site: Site, crew: Crew, process: int, options: list[str]) -> None:
        names = [f"p{process}t{thread}" for thread in range(crew.threads)]
        workers = ",".join(f"{name}={site.log.last(name)}" for name in names)
        command = [sys.executable, "-m", "tests.crash.writers", "--store", crew.store]
        command += ["--habit", crew.habit, "--path", str(site.path), "--effects", str(site.effects)]
        command += ["--workers", workers, *options]
        self.said = b""
        self.errors = b""
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), bufsize=0
        )

    def hear(self, seconds: float) -> bool:
        """Take in what was said, for at most so long; False at the end of the pipe."""
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], max(seconds, 0))[0]:
            return True
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.said += data
        return bool(data)

    def hear_until(self, word: bytes) -> bool:
        """Wait for a word; False when the child ended without it."""
        deadline = time.monotonic() + PATIENCE_S
        while word not in self.said:
            if time.monotonic() > deadline:
                self.end()
                raise TimeoutError(f"no {word!r} within {PATIENCE_S} s: {self.error}")
            if not self.hear(1):
                return word in self.said
        return True

    def hear_for(self, seconds: float) -> None:
        """Take in what is said during that time; a full pipe would hold the child up."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not self.hear(left):
                return

    def hear_out(self) -> None:
        """Wait until it has ended by itself."""
        rest, self.errors = self.process.communicate(timeout=PATIENCE_S)
        self.said += rest

    def end(self) -> None:
        """Kill it, hear it out, and note why it ended if it was not by us."""
        if self.process.poll() is None:
            self.process.kill()
        self.hear_out()

    @property
    def error(self) -> str:
        """The last line of the traceback of a child that ended by itself."""
        said = _last_line(self.errors.decode(errors="replace"))
        return said or f"exit code {self.process.returncode}"

    @property
    def failed(self) -> bool:
        """Whether it ended neither by a kill nor well."""
        return self.process.returncode not in (0, -signal.SIGKILL)


def delay(chance: random.Random) -> float:
    """Between 0.3 ms and 300 ms, each order of magnitude as likely as the other."""
    return math.exp(chance.uniform(math.log(0.0003), math.log(0.3)))


def random_kills(crew: Crew, kills: int, folder: Path, *, seed: int, each_file: int = 20) -> Tally:
    """So many kills at random moments, a new file after every `each_file` of them."""
    chance, tally = random.Random(seed), Tally()
    site = Site(folder)
    for number in range(kills):
        if number % each_file == 0:
            site = _new_site(folder)
        _one_kill(crew, site, tally, chance)
        examine(crew, site, tally, f"seed {seed} kill {number}", leave=number % 2 == 0)
    return tally


def _new_site(folder: Path) -> Site:
    place = folder / "site"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return Site(place)


def _one_kill(crew: Crew, site: Site, tally: Tally, chance: random.Random) -> None:
    """Start the crew, kill each process after a delay of its own, take in what was said."""
    children = [Child(site, crew, process, []) for process in range(crew.processes)]
    word = b"opening\n" if chance.random() < 0.2 else b"ready\n"
    for child in children:
        child.hear_until(word)
    for child in children:
        child.hear_for(delay(chance))
        child.end()
        collect(site, child, tally)


def collect(site: Site, child: Child, tally: Tally) -> None:
    """Add what an ended child said to the log, and where the kill fell to the tally."""
    said = Log.read(child.said.decode().splitlines(keepends=True))
    site.log.events += said.events
    tally.kills += 1
    tally.in_write += bool(said.open("begin", "ack"))
    tally.in_step += bool(said.open("step", "stepped"))
    tally.in_open += b"ready\n" not in child.said
    if child.failed:
        tally.add([Violation("gaveup", child.error)], "writer")


def examine(crew: Crew, site: Site, tally: Tally, where: str, *, leave: bool = False) -> None:
    """Have a fresh process check the file, and another one its pages."""
    answer = ask(site.request(crew, leave=leave))
    site.log.events += Log.read(answer.told).events
    tally.turns += answer.turns
    tally.in_doubt += answer.in_doubt
    tally.add(answer.violations, where)
    tally.add(integrity(copied(site.path, site.folder / "copy")), where)


def ask(request: Request) -> Answer:
    """One answer of a checker process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.checker"],
        input=json.dumps(asdict(request)) + "\n",
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE_S,
        check=False,
    )
    if done.returncode or not done.stdout:
        return Answer([Violation("noopen", f"the checker died: {_last_line(done.stderr)}")])
    return answer(done.stdout)


def _last_line(text: str) -> str:
    """Where a traceback says what was raised."""
    return text.strip().rpartition("\n")[2]


def answer(line: str) -> Answer:
    """An answer as the checker sent it."""
    fields = json.loads(line)
    fields["violations"] = [Violation(*pair) for pair in fields["violations"]]
    return Answer(**fields)


def integrity(path: Path) -> list[Violation]:
    """SQLite's own check of a file that nobody has open."""
    if not path.exists() or path.read_bytes()[:6] != b"SQLite":
        return []
    db = sqlite3.connect(path)
    try:
        rows = db.execute("PRAGMA integrity_check(5)").fetchall()
    except sqlite3.Error as error:
        rows = [(f"{type(error).__name__}: {error}",)]
    finally:
        db.close()
    return [] if rows == [("ok",)] else [Violation("corrupt", str(rows[0][0]))]


def copied(path: Path, scratch: Path) -> Path:
    """A copy to look into: opening the file itself would recover it."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for source in path.parent.glob(f"{path.name}*"):
        if not source.name.endswith("-shm"):
            shutil.copyfile(source, scratch / source.name)
    return scratch / path.name


def kill_at_point(crew: Crew, point: str, nth: int, folder: Path) -> Tally:
    """Kill a writer when it reaches a commit point for the n-th time; check the file."""
    tally, site = Tally(), _new_site(folder)
    options = ["--kill-at", f"{point}:{nth}", "--turns", "12", "--sittings", "2"]
    child = Child(site, crew, 0, options)
    child.hear_out()
    collect(site, child, tally)
    tally.kills -= child.process.returncode == 0
    examine(crew, site, tally, f"{point}:{nth}")
    return tally
