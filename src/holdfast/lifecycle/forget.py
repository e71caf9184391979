"""Forgetting: one verb for a record, a thread, a user. For good, with a receipt in counts.

The store erases rows, versions, edges, receipts and what was derived, in one transaction, and
leaves tombstones. Then the log is cut, so that the bytes go as well; while another reader holds it,
the receipt says `pending` and `flush` tries again.
"""

from ..store.contract import Batch, Erase, Store
from ..values.receipts import ErasureReceipt
from ..values.times import moment

_NAMES = {"fact": "facts", "episode": "episodes", "checkpoint": "checkpoints", "step": "steps"}


def forget(store: Store, what: Erase, now_us: int) -> ErasureReceipt:
    """Erase what is named, and say what went."""
    applied = store.apply(Batch(now_us, erase=what))
    counts = {_NAMES[form]: number for form, number in sorted(applied.erased.items())}
    pending = bool(counts) and not store.scrub()
    return ErasureReceipt(counts, moment(now_us), pending)
