"""The engine object that you open; handles for somebody come from it. It has no record verbs
itself.
"""

from types import TracebackType
from typing import Self

from .engine import Engine
from .errors import InvalidInput
from .scope import Scope
from .state.resume import unfinished
from .store.contract import Erase
from .values.owner import EVERYONE, Owner, clean_id, optional_id
from .values.receipts import ErasureReceipt, Unfinished


class _All:
    """The value that crosses tenants where a verb allows it."""

    def __repr__(self) -> str:
        return "holdfast.ALL"


ALL = _All()


class Memory:
    """A memory that is open: hand out scopes, look for what waits, forget, close."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def scope(self, user: str = "", *, agent: str = "", tenant: str = "") -> Scope:
        """A handle for somebody: a user, an agent, a tenant, each optional. No I/O."""
        parts = {"tenant": tenant, "user": user, "agent": agent}
        return Scope(self._engine, Owner(*(optional_id(id, name) for name, id in parts.items())))

    def common(self, *, tenant: str = "") -> Scope:
        """The handle that alone writes what every scope of the tenant may read."""
        return Scope(self._engine, Owner(optional_id(tenant, "tenant"), EVERYONE, ""))

    def unfinished(self, user: str | None = None, *, tenant: str | _All = "") -> list[Unfinished]:
        """Threads that wait for a reply, or have a step that is running or in doubt."""
        name = None if isinstance(tenant, _All) else optional_id(tenant, "tenant")
        whose = None if user is None else optional_id(user, "user")
        return unfinished(self._engine.store, self._engine.running, name, whose)

    def forget(self, *, user: str | None = None, tenant: str = "") -> ErasureReceipt:
        """Erase every record whose subject is this user, wherever it lies in the tenant."""
        if not user:
            raise InvalidInput("Nobody is named to be forgotten.", hint="Pass user=...")
        subject = clean_id(user, "user")
        return self._engine.forget(Erase(Owner(optional_id(tenant, "tenant")), subject=subject))

    def flush(self) -> None:
        """Write what is pending: recalls counted, and the rest of erasures that had to wait."""
        self._engine.flush()

    def close(self) -> None:
        """Flush and close; closing twice does nothing, other calls raise Misconfigured then."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
