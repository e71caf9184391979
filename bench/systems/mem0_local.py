"""mem0 without a language model (infer=False) and without a real embedding.

A stub answers with a fixed vector, so that only what mem0 and its vector database do is measured;
a real user waits for the embedding as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.systems.shape import Operation

_DIMENSIONS = 384


class _Stub:
    """Stands where an embedding model would; mem0 calls these two methods."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return [0.05] * _DIMENSIONS

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class Mem0:
    def __init__(self, folder: Path) -> None:
        # Both are read when mem0 is imported: no telemetry, and no folder in the user's home.
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "home"))
        from mem0 import Memory

        self._memory = Memory.from_config(_settings(folder))
        self._memory.embedding_model = _Stub()

    def operations(self) -> dict[str, Operation]:
        return {"fact": self._fact}

    def readers(self) -> dict[str, Callable[[str], Sequence[Any]]]:
        return {}

    def fill(self, thread: str, texts: Sequence[str]) -> None:
        for text in texts:
            self._fact(thread, text)

    def kept(self, thread: str) -> int:
        found = self._memory.get_all(filters={"user_id": "alice"}, top_k=1_000_000)
        return len(found["results"])

    def close(self) -> None:
        self._memory.vector_store.client.close()

    def _fact(self, thread: str, text: str) -> None:
        self._memory.add([{"role": "user", "content": text}], user_id="alice", infer=False)


def _settings(folder: Path) -> dict[str, Any]:
    place = {"path": str(folder / "qdrant"), "embedding_model_dims": _DIMENSIONS, "on_disk": True}
    # mem0 makes its two clients at once and each wants a key, though neither is ever called.
    client = {"provider": "openai", "config": {"api_key": "unused"}}
    return {
        "vector_store": {"provider": "qdrant", "config": {**place, "collection_name": "bench"}},
        "history_db_path": str(folder / "history.db"),
        "embedder": client,
        "llm": client,
    }
