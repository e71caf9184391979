"""Text and plain data as they may enter: what cannot be kept the same on every store is refused
here.
"""

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidInput

_INT_BITS = 1_024
_COUNT_MAX = 2**31 - 1
_PLAIN = "Use None, bool, int, float, str, list and dict with text keys."


def clean_text(value: object, name: str) -> str:
    """The text as given, or InvalidInput for NUL, a lone surrogate, or what is not text."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is not text but {type(value).__name__}.", hint="Pass a str.")
    if "\0" in value:
        raise InvalidInput(f"{name} holds a NUL character.", hint="Remove '\\0' before storing.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInput(
                f"{name} holds a lone surrogate.",
                hint="Decode the bytes with errors='replace' before storing.",
            ) from None
    return value


def said_text(value: object, name: str) -> str:
    """Text that says something: as `clean_text`, and not empty or blank."""
    text = clean_text(value, name)
    if not text or text.isspace():
        raise InvalidInput(f"{name} is empty.", hint="Pass text that says something.")
    return text


def same_text(text: str) -> str:
    """The form in which two texts are compared: NFC, without outer white space."""
    return unicodedata.normalize("NFC", text).strip()


def plain(value: Any, path: str, *, finite: bool = True) -> Any:
    """The value itself if it is plain data; else InvalidInput that names the place inside it.

    JSON would change a tuple, an int key or a NaN without a word; memory that changes is not
    memory. The place is named by its keys: they are the program's words, values never appear.
    """
    try:
        return _plain(value, path, finite=finite)
    except RecursionError:
        raise InvalidInput(f"{path} is nested too deeply or holds itself.", hint=_PLAIN) from None


def _plain(value: Any, path: str, *, finite: bool) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _INT_BITS:
            raise InvalidInput(f"{path} is too large an int.", hint="Pass it as text.")
        return value
    if isinstance(value, str):
        return clean_text(value, path)
    if isinstance(value, float):
        if finite and not math.isfinite(value):
            raise InvalidInput(f"{path} is not a finite number.", hint="Use None instead.")
        return value
    return _plain_items(value, path, finite=finite)


def _plain_items(value: Any, path: str, *, finite: bool) -> Any:
    if type(value) is list:
        for number, item in enumerate(value):
            _plain(item, f"{path}[{number}]", finite=finite)
        return value
    if type(value) is dict:
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"{path} has a key that is not text.", hint=_PLAIN)
            _plain(item, f"{path}.{clean_text(key, f'a key of {path}')}", finite=finite)
        return value
    raise InvalidInput(f"{path} is a {type(value).__name__}, which is not plain data.", hint=_PLAIN)


def plain_mapping(value: object, name: str) -> dict[str, Any]:
    """Metadata and payloads: a mapping of plain data; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} is not a mapping.", hint=f"Pass {name}={{...}}.")
    copied: dict[str, Any] = plain(dict(value), name)
    return copied


def clean_tags(tags: str | Sequence[str]) -> tuple[str, ...]:
    """Tags as a tuple, without repeats, in the order given."""
    if isinstance(tags, str) or not isinstance(tags, Sequence):
        raise InvalidInput("tags is not a list of texts.", hint="Pass a list or tuple of texts.")
    return tuple(dict.fromkeys(said_text(tag, "tag") for tag in tags))


def fraction(value: object, name: str) -> float:
    """A number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} is not in [0, 1].", hint=f"Pass {name} between 0 and 1.")
    return float(value)


def count(value: object, name: str) -> int:
    """A whole number from 0; one beyond all counting means all."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{name} is not a count.", hint=f"Pass {name} as a whole number.")
    return min(value, _COUNT_MAX)


def optional_count(value: object, name: str) -> int | None:
    """As `count`, and None for None."""
    return None if value is None else count(value, name)


def to_json(value: Any) -> str:
    """The one JSON form in which bodies are written: short, readable, in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def canonical_json(value: Any) -> str:
    """JSON with sorted keys: equal values give equal text, for fingerprints."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
