"""A model of the disk: the files as a power cut could leave them, from the recorded calls of one
run.

record.c has recorded the calls. An image stands for the disk after the first k
calls; what it holds of them depends on its kind:

    killed     all of them, as after a SIGKILL
    torn       all of them, but the last one, a write, is cut at a 512-byte sector
    synced     of each file what a finished sync covers, and no more: contents, lengths, names
    reordered  that, and besides a random part of the rest: writes, some of them torn, lengths
    without
               their data, names in their order

A name (a file made, renamed or removed) is durable when its folder was synced, not before. What
lies in outside/ is the outside's: acknowledgements and effects happened when they were written.
"""

import random
import struct
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
KINDS = ("killed", "torn", "synced", "reordered")
OPEN, WRITE, TRUNCATE, ALLOCATE, SYNC, SYNCED, SYNC_FAILED, UNLINK, RENAME = range(1, 10)
MADE, EMPTIED, FOLDER = 1, 2, 4
HEADER = struct.Struct("<IiqqQ")


@dataclass(frozen=True, slots=True)
class Call:
    """One recorded call: its number, the file descriptor, two numbers and the data."""

    what: int
    fd: int
    a: int
    b: int
    data: bytes


def recorded(log: Path) -> list[Call]:
    """The calls of a recording, in order."""
    data, calls, at = log.read_bytes(), [], 0
    while at < len(data):
        what, fd, a, b, size = HEADER.unpack_from(data, at)
        at += HEADER.size
        calls.append(Call(what, fd, a, b, data[at : at + size]))
        at += size
    return calls


@dataclass(slots=True)
class Change:
    """A change of one file: bytes at an offset, or with `data` None a new length."""

    offset: int
    data: bytes | None

    def apply(self, content: bytearray) -> None:
        if self.data is None:
            resize(content, self.offset)
            return
        resize(content, max(len(content), self.offset + len(self.data)))
        content[self.offset : self.offset + len(self.data)] = self.data

    def sectors(self) -> list["Change"]:
        """The write, cut where a sector of the disk ends."""
        assert self.data is not None
        pieces, at, end = [], self.offset, self.offset + len(self.data)
        while at < end:
            stop = min(end, (at // SECTOR + 1) * SECTOR)
            pieces.append(Change(at, self.data[at - self.offset : stop - self.offset]))
            at = stop
        return pieces


def resize(content: bytearray, length: int) -> None:
    """Cut, or fill up with zeros, as a file does."""
    if length < len(content):
        del content[length:]
    else:
        content.extend(bytes(length - len(content)))


@dataclass(eq=False)
class Node:
    """A file, whatever its name: what is durable of it, and the changes that are not yet."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Change] = field(default_factory=list)
    settled: int = 0

    def mark(self) -> int:
        """How many changes there were so far: what a sync that begins now will cover."""
        return self.settled + len(self.pending)

    def settle(self, mark: int, keep: float = 1.0, chance: random.Random | None = None) -> None:
        """Make the changes up to the mark durable; after a failed sync only a part of them is."""
        count = max(mark - self.settled, 0)
        for change in self.pending[:count]:
            if chance is None or chance.random() < keep:
                change.apply(self.durable)
        del self.pending[:count]
        self.settled += count

    def now(self, *, without_last: bool = False) -> bytearray:
        """What a reader sees while the power is on."""
        content = bytearray(self.durable)
        for change in self.pending[:-1] if without_last else self.pending:
            change.apply(content)
        return content

    def reordered(self, chance: random.Random) -> bytearray:
        """What is durable and a random part of the rest."""
        content, share = bytearray(self.durable), chance.choice([0.2, 0.5, 0.8])
        for change in self.pending:
            if chance.random() < share:
                torn = change.data is not None and chance.random() < 0.3
                for piece in change.sectors() if torn else [change]:
                    if not torn or chance.random() < 0.5:
                        piece.apply(content)
            elif change.data is not None and chance.random() < 0.25:
                resize(content, max(len(content), change.offset + len(change.data)))
        return content


@dataclass
class Disk:
    """The files of a recorded folder after some of the calls."""

    chance: random.Random
    names: dict[str, Node] = field(default_factory=dict)
    renamed: list[tuple[str, Node | None]] = field(default_factory=list)
    renamed_durably: int = 0
    open: dict[int, Node] = field(default_factory=dict)
    syncs: dict[int, tuple[Node, int]] = field(default_factory=dict)
    folder: Node = field(default_factory=Node)
    last: Node | None = None

    def take(self, call: Call) -> None:
        """Let one call happen."""
        self.last = None
        if call.what == OPEN:
            self._open(call)
        elif call.what == WRITE:
            self.last = self.open[call.fd]
            self.last.pending.append(Change(call.a, call.data))
        elif call.what == TRUNCATE:
            self.open[call.fd].pending.append(Change(call.a, None))
        elif call.what == ALLOCATE:
            node = self.open[call.fd]
            node.pending.append(Change(max(len(node.now()), call.a + call.b), None))
        elif call.what in (SYNC, SYNCED, SYNC_FAILED):
            self._sync(call)
        elif call.what == UNLINK:
            self._name(call.data.decode(), None)
        elif call.what == RENAME:
            old, _, new = call.data.decode().partition("\0")
            self._name(new, self.names[old])
            self._name(old, None)

    def _open(self, call: Call) -> None:
        if call.a & FOLDER:
            self.open[call.fd] = self.folder
            return
        name = call.data.decode()
        if name not in self.names:
            self._name(name, Node())
        node = self.open[call.fd] = self.names[name]
        if call.a & EMPTIED:
            node.pending.append(Change(0, None))

    def _name(self, name: str, node: Node | None) -> None:
        self.renamed.append((name, node))
        rename(self.names, name, node)

    def _sync(self, call: Call) -> None:
        if call.what == SYNC:
            node = self.open[call.fd]
            self.syncs[call.a] = (node, len(self.renamed) if node is self.folder else node.mark())
            return
        node, mark = self.syncs.pop(call.a)
        if call.what == SYNC_FAILED:
            # The kernel may call these pages clean without having written them: a later sync covers
            # only what is written anew.
            if node is not self.folder:
                node.settle(mark, 0.5, self.chance)
        elif node is self.folder:
            self.renamed_durably = max(self.renamed_durably, mark)
        else:
            node.settle(mark)

    def image(self, kind: str) -> dict[str, bytes]:
        """The files as the power cut leaves them, by name."""
        count = len(self.renamed)
        if kind in ("synced", "reordered"):
            count = self.renamed_durably
        if kind == "reordered":
            count = self.chance.randint(count, len(self.renamed))
        names: dict[str, Node] = {}
        for name, node in self.renamed[:count]:
            rename(names, name, node)
        kept = {name: node for name, node in names.items() if is_durable_state(name)}
        return {name: bytes(self._content(node, kind)) for name, node in kept.items()}

    def _content(self, node: Node, kind: str) -> bytearray:
        if kind == "synced":
            return node.durable
        if kind == "reordered":
            return node.reordered(self.chance)
        content = node.now(without_last=kind == "torn" and node is self.last)
        if kind == "torn" and node is self.last:
            pieces = node.pending[-1].sectors()
            for piece in pieces[: self.chance.randrange(len(pieces))]:
                piece.apply(content)
        return content

    def wrote_to_the_store(self) -> bool:
        """Whether the last call was a write to a file of the store."""
        names = [name for name, node in self.names.items() if node is self.last]
        return any(is_durable_state(name) for name in names)

    def told(self, name: str) -> bytes:
        """What the outside has heard or felt so far."""
        node = self.names.get(name)
        return bytes(node.now()) if node else b""


def rename(names: dict[str, Node], name: str, node: Node | None) -> None:
    """Give the name to another file, or to none."""
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def is_durable_state(name: str) -> bool:
    """SQLite's -shm is rebuilt after a crash; outside/ is not on this disk."""
    return not name.startswith("outside/") and not name.endswith("-shm")
