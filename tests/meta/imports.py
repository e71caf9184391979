"""Reads a package as its imports: who names whom, on which line, and when the import happens.

Nothing of the package is executed. Modules are named from the package down: `store.sqlite.writer`;
the package itself is the empty name.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.meta.repository import files

When = Literal["load", "typing", "call"]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Import:
    """One imported module: of ours (`own`), of the standard library, or of somebody else."""

    source: str
    target: str
    line: int
    when: When
    own: bool
    commented: bool

    @property
    def standard(self) -> bool:
        return not self.own and self.target.partition(".")[0] in sys.stdlib_module_names

    def __str__(self) -> str:
        return f"{self.source or '__init__'}:{self.line} imports {self.target or 'the package'}"


@dataclass(frozen=True)
class Module:
    name: str
    is_package: bool
    imports: tuple[Import, ...]
    bound: frozenset[str]
    strings: frozenset[str]
    calls_importlib: tuple[int, ...]


@dataclass(frozen=True)
class Package:
    name: str
    modules: dict[str, Module] = field(default_factory=dict)

    def imports(self) -> Iterator[Import]:
        for module in self.modules.values():
            yield from module.imports

    def parents(self, name: str) -> Iterator[str]:
        """The packages whose `__init__` runs before the module does."""
        parts = name.split(".") if name else []
        for length in range(len(parts)):
            parent = ".".join(parts[:length])
            if parent in self.modules:
                yield parent


def read_package(folder: Path) -> Package:
    paths = {module_name(path, folder): path for path in files(folder) if path.suffix == ".py"}
    names = set(paths) | {parent for name in paths for parent in folders_of(name)}
    package = Package(folder.name)
    for name, path in paths.items():
        package.modules[name] = read_module(name, path, folder.name, names)
    return package


def module_name(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def folders_of(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(len(parts))]


def read_module(name: str, path: Path, package: str, names: set[str]) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, filename=str(path))
    is_package = path.name == "__init__.py"
    reader = Reader(name, is_package, package, names, comment_lines(text))
    reader.visit(tree)
    return Module(
        name,
        is_package,
        tuple(reader.found),
        frozenset(bound_names(tree, reader)),
        frozenset(
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ),
        tuple(reader.dynamic),
    )


def comment_lines(text: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.start[0] for token in tokens if token.type == tokenize.COMMENT}


def bound_names(tree: ast.Module, reader: "Reader") -> Iterator[str]:
    """The names that the module's own top level binds, submodules themselves left out."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            base = reader.base(node)
            for alias in node.names:
                if base is None or joined(base, alias.name) not in reader.names:
                    yield alias.asname or alias.name


def joined(base: str, name: str) -> str:
    return f"{base}.{name}" if base else name


class Reader(ast.NodeVisitor):
    """Collects imports, remembering whether they stand in a function or under TYPE_CHECKING."""

    def __init__(
        self, name: str, is_package: bool, package: str, names: set[str], comments: set[int]
    ) -> None:
        self.name = name
        self.is_package = is_package
        self.package = package
        self.names = names
        self.comments = comments
        self.when: list[When] = ["load"]
        self.found: list[Import] = []
        self.dynamic: list[int] = []

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, FUNCTIONS):
            self.inside("call", node)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            self.inside("typing", *node.body)
            for other in node.orelse:
                self.visit(other)
        else:
            super().visit(node)

    def inside(self, when: When, *nodes: ast.AST) -> None:
        self.when.append(when)
        for node in nodes:
            if isinstance(node, FUNCTIONS):
                self.generic_visit(node)
            else:
                self.visit(node)
        self.when.pop()

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top, _, rest = alias.name.partition(".")
            if top == self.package:
                self.add(node, rest, own=True)
            else:
                self.add(node, alias.name, own=False)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self.base(node)
        if base is None:
            self.add(node, node.module or "", own=False)
            return
        for alias in node.names:
            deeper = joined(base, alias.name)
            self.add(node, deeper if deeper in self.names else base, own=True)

    def visit_Call(self, node: ast.Call) -> None:
        if ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__"):
            self.dynamic.append(node.lineno)
        self.generic_visit(node)

    def base(self, node: ast.ImportFrom) -> str | None:
        """The module of ours that a `from ... import` starts at; None when it is not ours."""
        if node.level == 0:
            top, _, rest = (node.module or "").partition(".")
            return rest if top == self.package else None
        parts = self.name.split(".") if self.name else []
        climbed = node.level - 1 if self.is_package else node.level
        parts = parts[: len(parts) - climbed] if climbed else parts
        return ".".join(parts + (node.module.split(".") if node.module else []))

    def add(self, node: ast.Import | ast.ImportFrom, target: str, *, own: bool) -> None:
        when = "call" if "call" in self.when else self.when[-1]
        self.found.append(
            Import(self.name, target, node.lineno, when, own, self.is_commented(node.lineno))
        )

    def is_commented(self, line: int) -> bool:
        """A comment on the line or above it; one comment serves imports that follow each other."""
        above = line - 1
        while any(found.line == above for found in self.found):
            above -= 1
        return line in self.comments or above in self.comments
