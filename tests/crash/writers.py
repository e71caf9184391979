"""The child process that is killed: `python -m tests.crash.writers --store … --path …`.

Besides the verbs of the log (story.py) it says `opening`, `ready` and `closed`.
"""

import argparse
import os
import sys
import threading
from pathlib import Path

from .outside import Outside, Store, open_store, work


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=["holdfast", "plain"], required=True)
    parser.add_argument("--habit", required=True)
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--effects", type=Path, required=True)
    parser.add_argument("--log", type=Path, help="a file to tell; else standard output")
    parser.add_argument("--workers", required=True, help="names and last numbers: p0t0=17,p0t1=20")
    parser.add_argument("--turns", type=int, default=10**9, help="how many turns a worker writes")
    parser.add_argument("--sittings", type=int, default=1, help="close and open again so often")
    parser.add_argument("--checkpoint-pages", type=int, help="fold the log so often")
    parser.add_argument(
        "--kill-at", help="NAME:K, die when that commit point is reached the K-th time"
    )
    return parser.parse_args()


def main() -> None:
    given = arguments()
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    log = os.open(given.log, flags, 0o600) if given.log else sys.stdout.fileno()
    outside = Outside(log, given.effects)
    if given.kill_at:
        from holdfast.testing import faults

        name, _, nth = given.kill_at.partition(":")
        faults.kill_at(name, nth=int(nth))
    last = {name: int(n) for name, n in (pair.split("=") for pair in given.workers.split(","))}
    for sitting in range(given.sittings):
        outside.tell("opening")
        pages = given.checkpoint_pages
        store = open_store(given.store, given.path, given.habit, checkpoint_pages=pages)
        outside.tell("ready")
        run_all(
            store, outside, {w: n + sitting * given.turns for w, n in last.items()}, given.turns
        )
        store.close()
        outside.tell("closed")
    outside.close()


def run_all(store: Store, outside: Outside, last: dict[str, int], turns: int) -> None:
    """Every worker in a thread of its own; a lone one in the main thread."""
    if len(last) == 1:
        ((worker, number),) = last.items()
        work(store, outside, worker, range(number + 1, number + 1 + turns))
        return
    failed: list[BaseException] = []

    def guarded(worker: str, number: int) -> None:
        try:
            work(store, outside, worker, range(number + 1, number + 1 + turns))
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=guarded, args=pair) for pair in last.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise SystemExit(f"{len(failed)} workers failed, the first with {failed[0]!r}")


if __name__ == "__main__":
    main()
