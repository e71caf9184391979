"""The fresh process that reads after a crash: `python -m tests.crash.checker`.

One JSON object a line on standard input, one a line out. A request names the store, its file, the
effects file and the log; the answer holds the violations, what was found, and what the checker
itself told the outside while it took up open steps and wrote on.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from . import controls
from .questions import Answer, Request, answer_of
from .story import Log


def check(request: Request) -> Answer:
    """The answer to one request."""
    log = Log.read(request.log)
    if request.store == "plain":
        return answer_of(controls.read(Path(request.path), request.habit), log, request)
    # Imported here so that the plain stores are checked by a process that starts quickly.
    from . import recovery

    return (recovery.check_damaged if request.damaged else recovery.check)(request, log)


def main() -> None:
    for line in sys.stdin:
        request = Request(**json.loads(line))
        answer = check(request)
        sys.stdout.write(json.dumps(asdict(answer)) + "\n")
        sys.stdout.flush()
        if request.leave:
            os._exit(0)


if __name__ == "__main__":
    main()
