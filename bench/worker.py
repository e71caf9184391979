"""`python -m bench.worker '{"job": "write", …}'`: do one job, print its result as JSON.

Every measurement is a fresh process, so that no system inherits another's imports, caches or heap.
"""

from __future__ import annotations

import json
import sys

from bench import jobs

if __name__ == "__main__":
    order = json.loads(sys.argv[1])
    found = getattr(jobs, order.pop("job"))(**order)
    print(json.dumps(found), flush=True)
