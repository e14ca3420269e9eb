"""Throttle of login attempts."""

from __future__ import annotations

import time
from collections import deque

MAX_PER_ADDRESS = 5  # failures from one address ...
MAX_TOTAL = 50  # ... and from all together ...
WINDOW_S = 60.0  # ... within this time
MAX_ADDRESSES = 1000


class LoginThrottle:
    """Failed attempts of the last minute, by address."""

    def __init__(self) -> None:
        self._failures: dict[str, deque[float]] = {}

    def wait_s(self, address: str) -> float:
        """Return how long an address has to wait until its next attempt; 0: not at all."""
        now = time.monotonic()
        self._drop_old(now)
        address_times = self._failures.get(address, deque())
        all_times = sorted(when for times in self._failures.values() for when in times)
        limits = ((list(address_times), MAX_PER_ADDRESS), (all_times, MAX_TOTAL))
        waits = [times[-limit] + WINDOW_S - now for times, limit in limits if len(times) >= limit]
        return max(waits, default=0.0)

    def record_failure(self, address: str) -> None:
        """Count a failed attempt."""
        self._failures.setdefault(address, deque()).append(time.monotonic())
        while len(self._failures) > MAX_ADDRESSES:
            self._failures.pop(next(iter(self._failures)))

    def record_success(self, address: str) -> None:
        """Reset the failures of an address."""
        self._failures.pop(address, None)

    def _drop_old(self, now: float) -> None:
        for address, times in list(self._failures.items()):
            while times and times[0] <= now - WINDOW_S:
                times.popleft()
            if not times:
                del self._failures[address]
