"""Build the preload layer, and run a job beneath it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.environment import CACHE, ROOT
from bench.launch import ask

_SOURCE = ROOT / "bench" / "delay.c"
_LIBRARY = CACHE / "delay.so"


def run(job: Mapping[str, Any], delay_us: int, report: Path) -> dict[str, Any]:
    """The job's own findings, with `syncs`, `sync_ms` (their mean) and `longest_sync_ms`."""
    _build()
    environment = {
        "LD_PRELOAD": str(_LIBRARY),
        "BENCH_SYNC_DELAY_US": str(delay_us),
        "BENCH_SYNC_REPORT": str(report),
    }
    found = ask(job, environment=environment)
    calls, total_ns, longest_ns = (int(part) for part in report.read_text().split())
    found["syncs"] = calls
    found["sync_ms"] = total_ns / max(1, calls) / 1e6
    found["longest_sync_ms"] = longest_ns / 1e6
    return found


def _build() -> None:
    if _LIBRARY.exists() and _LIBRARY.stat().st_mtime > _SOURCE.stat().st_mtime:
        return
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("bench: a C compiler (cc) is missing. Install one to delay syncs.")
    options = ["-O2", "-shared", "-fPIC", "-o", str(_LIBRARY), str(_SOURCE), "-ldl"]
    subprocess.run([compiler, *options], check=True)
