"""The command line: `holdfast demo`, `holdfast --version`.

Exit codes: 0 well, 1 failure, 2 usage, 130 interrupted. Errors of ours are printed with their
remedy and without a traceback.
"""

import argparse
import sys
from collections.abc import Sequence

from ..errors import HoldfastError
from ..values.version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    given = _parser().parse_args(arguments)
    try:
        # Only the command that runs is imported, so that --version answers at once.
        from .demo import demo

        return demo(keep=given.keep)
    except HoldfastError as error:
        print(f"holdfast: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="holdfast", description="Persistent memory for AI agents that survives any crash."
    )
    parser.add_argument("--version", action="version", version=f"holdfast {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    show = commands.add_parser("demo", help="watch memory hold through a kill -9")
    show.add_argument("--keep", metavar="FILE", help="keep the demo's database in this new file")
    return parser
