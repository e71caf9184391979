"""Reads docs/features.md: which feature is there, by which call, proved by which test."""

import ast
import inspect
import pkgutil
import re
from dataclasses import dataclass
from pathlib import Path

from tests.meta.documents import table_rows

NOT_BUILT = "not built yet"
STATES = re.compile(rf"built|built in part: .+|built differently: .+|{NOT_BUILT}")
CALL = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(?:\((?P<arguments>[^)]*)\))?")
# X9, X18 and their like were never given: the ledger's own numbering has gaps.
GAPS = {"X9", "X18", "X19", "X33", "X34", "X41", "X43"}
LAST = {"0.": 29, "1.": 32, "2.": 37, "3.": 37, "4.": 11, "X": 45, "W": 28}


@dataclass(frozen=True)
class Row:
    id: str
    feature: str
    calls: tuple[str, ...]
    tests: tuple[str, ...]
    state: str


def expected_ids() -> list[str]:
    numbered = [f"{part}{n}" for part, last in LAST.items() for n in range(1, last + 1)]
    return [name for name in numbered if name not in GAPS]


def read_rows(text: str) -> list[Row]:
    return [row_of(cells) for cells in table_rows(text)]


def row_of(cells: list[str]) -> Row:
    identity, feature, calls, tests, state = cells
    quoted = [tuple(re.findall(r"`([^`]+)`", cell)) for cell in (calls, tests)]
    return Row(identity, feature, quoted[0], quoted[1], state)


def shape_findings(row: Row) -> list[str]:
    if not STATES.fullmatch(row.state):
        return [f"{row.id}: unknown state {row.state!r}"]
    named = bool(row.calls), bool(row.tests)
    if row.state == NOT_BUILT and any(named):
        return [f"{row.id}: not built, but names a call or a test"]
    if row.state != NOT_BUILT and not all(named):
        return [f"{row.id}: built, but names no call or no test"]
    return []


def call_finding(call: str) -> str | None:
    """None when the public name exists and takes the arguments shown (`Scope.remember(ttl=)`)."""
    parsed = CALL.fullmatch(call)
    if parsed is None:
        return f"{call} cannot be read"
    name = parsed["name"]
    try:
        target = pkgutil.resolve_name(name if name.startswith("holdfast") else f"holdfast.{name}")
    except (AttributeError, ImportError):
        return f"{call} does not exist"
    shown = re.findall(r"(\w+)=", parsed["arguments"] or "")
    if not shown:
        return None
    missing = set(shown) - set(inspect.signature(target).parameters)
    return f"{call}: no argument {', '.join(sorted(missing))}" if missing else None


def proof_finding(reference: str, root: Path) -> str | None:
    """None when `path::Class::name` is there; read, not run."""
    file, *names = reference.split("::")
    path = root / file
    if not names or not path.is_file():
        return f"{reference} does not exist"
    found: ast.AST = ast.parse(path.read_text(encoding="utf-8"))
    for name in names:
        inner = [node for node in ast.iter_child_nodes(found) if getattr(node, "name", "") == name]
        if not inner:
            return f"{reference} does not exist"
        found = inner[0]
    return None
