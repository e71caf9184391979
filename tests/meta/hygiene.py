"""Finds in text and code what must not land: leftovers, silenced checks, traces of a machine."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

# Written so that they do not find themselves.
HOME = re.compile(r"(?<![\w.*~])/(?:home|root|Users|work|opt|private)/\w")
LEFTOVER = re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b")
SILENCED = re.compile(
    r"#\s*(?:type:\s*ignore|noqa)(?P<which>\[[\w, -]+\]|:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?"
)
REASON = re.compile(r"\s+#?\s*\S+ \S+ \S+")
LEAVES_OUT = {
    *("pytest.skip", "pytest.xfail", "pytest.importorskip", "pytest.mark.skip"),
    *("pytest.mark.skipif", "pytest.mark.xfail", "unittest.skip", "unittest.skipIf"),
}
BROAD = {"Exception", "BaseException"}


def text_findings(text: str) -> Iterator[str]:
    """In any file: a path of somebody's machine, a note that work was left undone."""
    for number, line in enumerate(text.splitlines(), 1):
        if HOME.search(line):
            yield f"{number}: a path of one machine"
        if LEFTOVER.search(line):
            yield f"{number}: a leftover"


def code_findings(text: str) -> Iterator[str]:
    """In any Python file: checks silenced or errors swallowed without a reason, stand-ins."""
    comments = comments_of(text)
    for number, comment in comments.items():
        for silenced in SILENCED.finditer(comment):
            if not silenced["which"] or not REASON.match(comment, silenced.end()):
                yield f"{number}: a check is silenced without saying which and why"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler) and is_broad(node):
            if not comments.keys() & {node.lineno - 1, node.lineno, node.lineno + 1}:
                yield f"{node.lineno}: catches everything without saying why"
        elif any(name.startswith("unittest.mock") for name in imported(node)):
            yield f"{node.lineno}: a stand-in for what could be used itself"


def waiting_findings(text: str) -> Iterator[str]:
    """In tests alone: what leaves a test out, and waiting for time to pass."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Attribute):
            continue
        name = ast.unparse(node)
        if name in LEAVES_OUT:
            yield f"{node.lineno}: {name} leaves a test out"
        elif name in ("time.sleep", "asyncio.sleep"):
            yield f"{node.lineno}: {name} makes a test wait and hope"


def comments_of(text: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def is_broad(node: ast.ExceptHandler) -> bool:
    """Whether it takes in every error and keeps it: to tidy up and raise again hides nothing."""
    last = node.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return False
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(kind is None or ast.unparse(kind) in BROAD for kind in caught)


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []
