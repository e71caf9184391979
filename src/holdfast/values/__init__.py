"""Frozen values: what moves between the rooms. No I/O, no clock."""
