"""Several checker processes at work, each image in a folder of its own."""

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from threading import Semaphore

from .invariants import Violation
from .kill import PATIENCE_S, answer, environment, integrity
from .questions import Answer, Request


class Server:
    """One checker process; started anew after a request that it did not survive."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def ask(self, request: Request) -> Answer:
        """The answer, or what became of the process that was to give it."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.checker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment(),
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asdict(request)) + "\n")
        self.process.stdin.flush()
        ready = select.select([self.process.stdout], [], [], PATIENCE_S)[0]
        line = self.process.stdout.readline() if ready else ""
        if line:
            return answer(line)
        self.stop()
        return Answer([Violation("noopen", "the checker died" if ready else "the checker hangs")])

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


class Checkers:
    """A few servers at work at once; a context manager."""

    def __init__(self, servers: int | None = None) -> None:
        count = servers or min(4, os.cpu_count() or 1)
        self.pool = ThreadPoolExecutor(count)
        self.free: SimpleQueue[Server] = SimpleQueue()
        self.servers = [Server() for _ in range(count)]
        for server in self.servers:
            self.free.put(server)
        # Images lie on the disk until they are checked: only a few at a time.
        self.room = Semaphore(4 * count)
        self.asked: list[tuple[str, Future[Answer]]] = []

    def __enter__(self) -> "Checkers":
        return self

    def __exit__(self, *exc: object) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)
        for server in self.servers:
            server.stop()

    def submit(self, request: Request, where: str, *, remove: Path | None = None) -> None:
        """Have it checked when a server is free, and a folder removed after it; waits for room."""
        self.room.acquire()
        self.asked.append((where, self.pool.submit(self._check, request, remove)))

    def answers(self) -> Iterator[tuple[str, Answer]]:
        """All answers, in the order of asking."""
        for where, future in self.asked:
            yield where, future.result()

    def _check(self, request: Request, remove: Path | None) -> Answer:
        server = self.free.get()
        try:
            found = server.ask(request)
            if not request.damaged:
                found.violations += integrity(Path(request.path))
        finally:
            self.free.put(server)
            self.room.release()
        if remove is not None:
            shutil.rmtree(remove)
        return found
