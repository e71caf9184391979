"""The OpenAI Agents SDK's SQLiteSession. Its calls are coroutines, so each thread has a loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from agents import SQLiteSession

from bench.systems.shape import Operation


class Session:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "session.db"
        self._sessions: dict[str, SQLiteSession] = {}
        self._mine = threading.local()
        self._session("main")

    def operations(self) -> dict[str, Operation]:
        return {"message": self._message, "turn": self._turn}

    def readers(self) -> dict[str, Callable[[str], Sequence[Any]]]:
        return {"get_items": lambda name: self._run(self._session(name).get_items(limit=20))}

    def fill(self, thread: str, texts: Sequence[str]) -> None:
        for start in range(0, len(texts), 100):
            items = [_item(text) for text in texts[start : start + 100]]
            self._run(self._session(thread).add_items(items))

    def kept(self, thread: str) -> int:
        return len(self._run(self._session(thread).get_items()))

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()

    def _session(self, name: str) -> SQLiteSession:
        session = self._sessions.get(name)
        if session is None:
            session = self._sessions[name] = SQLiteSession(name, self._path)
        return session

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        loop = getattr(self._mine, "loop", None)
        if loop is None:
            loop = self._mine.loop = asyncio.new_event_loop()
        return loop.run_until_complete(work)

    def _message(self, thread: str, text: str) -> None:
        self._run(self._session(thread).add_items([_item(text)]))

    def _turn(self, thread: str, text: str) -> None:
        """The user's item and the reply, as the SDK's runner adds them: one transaction."""
        items = [_item(text), {"role": "assistant", "content": text}]
        self._run(self._session(thread).add_items(items))


def _item(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
