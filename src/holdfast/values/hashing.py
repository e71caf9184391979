"""Keyed hashes: they tell whether two things are the same without telling what they are.

The key is the store's salt. It identifies duplicates and stands in receipts and tombstones; it does
not protect a stolen file, since the salt lies beside the data.
"""

from hashlib import blake2b


def keyed(salt: bytes, *parts: str) -> bytes:
    """16 bytes that name these parts; ('ab', 'c') is not ('a', 'bc')."""
    digest = blake2b(digest_size=16, key=salt)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(5))
        digest.update(data)
    return digest.digest()
