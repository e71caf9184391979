"""The ledger of features: every id once, and what is called built can be called and is proved."""

from collections import Counter

import pytest

from tests.meta.ledger import (
    Row,
    call_finding,
    expected_ids,
    proof_finding,
    read_rows,
    shape_findings,
)
from tests.meta.repository import ROOT


@pytest.fixture(scope="module")
def rows():
    return read_rows((ROOT / "docs" / "features.md").read_text(encoding="utf-8"))


def test_every_feature_is_listed_once(rows):
    """What is planned and not there yet is said too: nobody has to guess."""
    assert Counter(row.id for row in rows) == Counter(expected_ids())


def test_every_row_is_either_built_and_proved_or_said_to_be_missing(rows):
    """There is no third state in which one may believe what one likes."""
    assert [finding for row in rows for finding in shape_findings(row)] == []


def test_every_public_call_exists(rows):
    """With the arguments that the row shows."""
    findings = [(row.id, call_finding(call)) for row in rows for call in row.calls]

    assert [f"{name}: {finding}" for name, finding in findings if finding] == []


def test_every_proof_exists(rows):
    """A row's test can be run by copying its name."""
    findings = [(row.id, proof_finding(test, ROOT)) for row in rows for test in row.tests]

    assert [f"{name}: {finding}" for name, finding in findings if finding] == []


SAMPLE = """
| id | feature | public call | test | state |
|---|---|---|---|---|
| 0.1 | a \\| b | `Scope.remember(ttl=)`, `holdfast.open` | `tests/a.py::TestA::test_b` | built |
| W2 | receipts | – | – | not built yet |
"""


def test_rows_are_read_as_they_stand():
    """Several calls in one cell, a bar within a cell, dashes for nothing."""
    calls = ("Scope.remember(ttl=)", "holdfast.open")

    assert read_rows(SAMPLE) == [
        Row("0.1", "a | b", calls, ("tests/a.py::TestA::test_b",), "built"),
        Row("W2", "receipts", (), (), "not built yet"),
    ]


@pytest.mark.parametrize(
    "row",
    [
        Row("0.1", "", ("holdfast.open",), ("tests/a.py::test_b",), "finished"),
        Row("0.1", "", ("holdfast.open",), ("tests/a.py::test_b",), "not built yet"),
        Row("0.1", "", (), ("tests/a.py::test_b",), "built"),
        Row("0.1", "", ("holdfast.open",), (), "built in part: no vectors"),
    ],
    ids=["unknown state", "missing but named", "no call", "no test"],
)
def test_a_row_that_contradicts_itself_is_found(row):
    """The state says whether a call and a test must be there."""
    assert len(shape_findings(row)) == 1


@pytest.mark.parametrize(
    ("call", "finding"),
    [
        ("Scope.remember", None),
        ("holdfast.Scope.remember(text, ttl=)", None),
        ("Scope.memorize", "Scope.memorize does not exist"),
        ("Scope.remember(colour=)", "Scope.remember(colour=): no argument colour"),
        ("scope remember", "scope remember cannot be read"),
    ],
)
def test_a_call_that_is_not_there_is_found(call, finding):
    """Names and arguments are looked up in the package itself."""
    assert call_finding(call) == finding


@pytest.mark.parametrize(
    ("reference", "finding"),
    [
        ("tests/a.py::TestA::test_b", None),
        ("tests/a.py::TestA::test_c", "tests/a.py::TestA::test_c does not exist"),
        ("tests/a.py::test_b", "tests/a.py::test_b does not exist"),
        ("tests/a.py", "tests/a.py does not exist"),
        ("tests/b.py::test_b", "tests/b.py::test_b does not exist"),
    ],
)
def test_a_proof_that_is_not_there_is_found(tmp_path, reference, finding):
    """A renamed test takes its row along or is missed here."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.py").write_text("class TestA:\n    def test_b(self): ...\n")

    assert proof_finding(reference, tmp_path) == finding
