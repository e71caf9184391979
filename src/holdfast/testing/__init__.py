"""What others test their agents and backends with: a clock, faults, the store contract, a
simulator.
"""

from .clock import FakeClock

__all__ = ["FakeClock"]
