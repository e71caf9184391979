"""The pictures of docs/benchmarks.md: one question each, medians with the spread of the rounds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt

from bench.readings import Readings
from bench.rows import crowd, processes, reading, start, syncs, writes
from bench.systems import LABELS

_OURS, _FLOOR, _PEER = "#1f6f8b", "#9aa5ab", "#d9a441"
Bars = list[tuple[str, list[float], str]]

# The salt makes ids in the file repeat, and text stays text: a small file that diffs well.
matplotlib.rcParams.update(
    {"svg.hashsalt": "holdfast", "svg.fonttype": "none", "font.size": 10, "axes.axisbelow": True}
)


def draw(readings: Readings, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _bars(folder / "syncs.svg", "Syncs per acknowledged write", "syncs", _syncs(readings))
    _bars(
        folder / "writes.svg",
        "One acknowledged write on disk (p50)",
        "microseconds",
        _writes(readings),
    )
    _bars(
        folder / "crowd.svg",
        "8 threads on one file, a sync takes 1 ms more",
        "acknowledged writes a second",
        _crowd(readings, "per_second"),
    )
    _bars(
        folder / "longest-wait.svg",
        "Longest wait of one write, 4 processes on one file",
        "milliseconds",
        _processes(readings),
    )
    _bars(
        folder / "start.svg",
        "Import, CPU time over a bare interpreter",
        "milliseconds",
        _start(readings),
    )
    _reading(readings, folder / "reading.svg")


def _syncs(readings: Readings) -> Bars:
    shown = {
        "holdfast:message": "holdfast, a message",
        "holdfast:turn": "holdfast, 3 messages + state + fact",
        "floor:message": "raw SQLite, a row",
        "session:turn": "SQLiteSession, 2 items",
        "saver:turn": "SqliteSaver, a step",
        "store:fact": "SqliteStore, a memory",
        "mem0:fact": "mem0, a memory",
    }
    return _chosen(readings, syncs.NAME, "syncs", shown)


def _writes(readings: Readings) -> Bars:
    shown = {
        "floor:message": "raw SQLite, a row",
        "holdfast:message": "holdfast thread.add",
        "session:message": "SQLiteSession, one item",
        "saver:message": "SqliteSaver, put of 5 KB",
        "holdfast:fact": "holdfast remember",
        "store:fact": "SqliteStore, a memory",
        "mem0:fact": "mem0, a memory, no embedding",
    }
    return _chosen(readings, writes.NAME, "disk_p50_us", shown)


def _crowd(readings: Readings, metric: str) -> Bars:
    systems = ("holdfast", "floor", "floor-own", "session", "saver", "saver-own")
    shown = {f"{system}:1000": _plain(system) for system in systems}
    return _chosen(readings, crowd.NAME, metric, shown)


def _processes(readings: Readings) -> Bars:
    shown = {system: _plain(system) for system in processes.CONTENDERS}
    shown["floor"] = "raw SQLite"
    return _chosen(readings, processes.NAME, "worst_ms", shown)


def _start(readings: Readings) -> Bars:
    shown = {
        "import holdfast": "import holdfast",
        "holdfast --version": "holdfast --version",
        "SqliteSaver": "LangGraph SqliteSaver",
        "mem0": "mem0",
        "openai-agents": "OpenAI Agents SDK",
    }
    return _chosen(readings, start.NAME, "cpu_ms", shown)


def _chosen(readings: Readings, row: str, metric: str, shown: dict[str, str]) -> Bars:
    found = ((name, readings.series(row, key, metric), key) for key, name in shown.items())
    return [(name, series, _colour(key)) for name, series, key in found if series]


def _plain(system: str) -> str:
    return LABELS[system].replace("*", "").replace("LangGraph ", "").replace("OpenAI Agents ", "")


def _colour(contender: str) -> str:
    if "holdfast" in contender:
        return _OURS
    return _FLOOR if contender.startswith("floor") else _PEER


def _bars(path: Path, title: str, unit: str, bars: Bars) -> None:
    figure, axes = plt.subplots(figsize=(7.5, 0.9 + 0.42 * len(bars)), layout="constrained")
    names = [name for name, _, _ in bars]
    middles = [statistics.median(series) for _, series, _ in bars]
    axes.barh(names, middles, color=[colour for _, _, colour in bars], height=0.62)
    for place, (_, series, _) in enumerate(bars):
        axes.plot([min(series), max(series)], [place, place], color="#333333", linewidth=1.2)
        axes.annotate(
            f"{middles[place]:,.3g}" if middles[place] < 1000 else f"{middles[place]:,.0f}",
            (max(series), place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
        )
    axes.invert_yaxis()
    axes.margins(x=0.14)
    _finish(axes, title)
    axes.set_xlabel(unit)
    axes.grid(axis="x", color="#e3e6e8")
    _save(figure, path)


def _reading(readings: Readings, path: Path) -> None:
    lines = (
        ("holdfast", "messages", "holdfast thread.messages()", _OURS, "-"),
        ("holdfast", "episodes", "holdfast thread.episodes(limit=20)", _OURS, "--"),
        ("session", "get_items", "SQLiteSession get_items(20)", _PEER, "-"),
        ("floor", reading.FLOOR, "raw indexed select and json.loads", _FLOOR, "-"),
    )
    figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
    for system, reader, label, colour, style in lines:
        middles = _by_length(readings, system, reader)
        if middles:
            axes.plot(
                reading.LENGTHS, middles, style, color=colour, label=label, marker="o", linewidth=2
            )
    axes.set_xscale("log")
    axes.set_xticks(reading.LENGTHS, [f"{length:,}" for length in reading.LENGTHS])
    axes.set_xlabel("messages in the thread")
    axes.set_ylabel("microseconds (p50)")
    axes.set_ylim(bottom=0)
    axes.grid(color="#e3e6e8")
    figure.legend(loc="outside lower left", ncols=2, handlelength=3.5, frameon=False, fontsize=9)
    _finish(axes, "Reading the newest 20 messages")
    _save(figure, path)


def _by_length(readings: Readings, system: str, reader: str) -> list[float]:
    found: list[Sequence[float]] = [
        readings.series(reading.NAME, system, f"{reader}@{length}") for length in reading.LENGTHS
    ]
    return [statistics.median(series) for series in found] if all(found) else []


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.minorticks_off()


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
