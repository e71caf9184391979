"""Every error of the package on one page.

    HoldfastError
      NotFound        what was named is not there, or is not yours to see
      Conflict        someone else changed it first: reload and retry
      Denied          it is there, and this handle may not do that to it
      Busy            another worker or process holds it: retry helps
      InDoubt         an effect may have happened: a person or a check decides
      Unavailable     the disk or the server failed: retry helps once it is cured
      Corrupt         what was read is not what was written: stop
      Misconfigured   the program has to be changed before a retry can help
      Unsupported     this store or this version cannot do it
      InvalidInput    an argument is wrong

A message says what happened, to what, and what to do; `.hint` is the remedy alone and the other
facts are attributes. What a user stored never appears in a message.
"""


class HoldfastError(Exception):
    """The root of all errors of this package; `.hint` says what to do."""

    def __init__(self, what: str, *, hint: str = "", **facts: object) -> None:
        super().__init__(f"{what} {hint}".rstrip())
        self.hint = hint
        self.facts = facts

    def __getattr__(self, name: str) -> object:
        """The facts of the case, such as `error.thread` or `error.expected`."""
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(name)


class NotFound(HoldfastError):
    """What was named does not exist, or this handle may not see it."""


class Conflict(HoldfastError):
    """Someone else changed it first. Reload and retry."""


class Denied(HoldfastError):
    """This handle may not do that."""


class Busy(HoldfastError):
    """Another worker or process holds it. Retry."""


class InDoubt(HoldfastError):
    """An effect may or may not have happened. Find out, then settle it."""


class Unavailable(HoldfastError):
    """The disk or the server failed. What was not acknowledged is not promised."""


class Corrupt(HoldfastError):
    """What was read is not what was written. Stop, and restore a copy."""


class Misconfigured(HoldfastError):
    """The program or its surroundings have to be changed; a retry does not help."""


class Unsupported(HoldfastError):
    """This store, or this version, cannot do it."""


class InvalidInput(HoldfastError, ValueError):
    """An argument is wrong; the message says which and what to pass."""
