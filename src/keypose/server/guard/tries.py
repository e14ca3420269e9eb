"""How often somebody may try a password."""

from __future__ import annotations

import time
from collections import deque

MOST_OF_ONE = 5  # wrong ones from one address ...
MOST_OF_ALL = 50  # ... and from all together ...
WITHIN_S = 60.0  # ... in so many seconds
MOST_ADDRESSES = 1000


class Tries:
    """Passwords that were wrong, of the last minute."""

    def __init__(self) -> None:
        self._wrong: dict[str, deque[float]] = {}

    def wait_s(self, address: str) -> float:
        """How long an address has to wait until its next try; 0: it may try now."""
        now = time.monotonic()
        self._forget(now)
        ones = self._wrong.get(address, deque())
        everyone = sorted(when for times in self._wrong.values() for when in times)
        waits = [times[-most] + WITHIN_S - now for times, most in ((list(ones), MOST_OF_ONE), (everyone, MOST_OF_ALL))
                 if len(times) >= most]  # fmt: skip
        return max(waits, default=0.0)

    def was_wrong(self, address: str) -> None:
        """Counts a try that failed."""
        self._wrong.setdefault(address, deque()).append(time.monotonic())
        while len(self._wrong) > MOST_ADDRESSES:
            self._wrong.pop(next(iter(self._wrong)))

    def was_right(self, address: str) -> None:
        """Whoever knows the password may mistype it again."""
        self._wrong.pop(address, None)

    def _forget(self, now: float) -> None:
        for address, times in list(self._wrong.items()):
            while times and times[0] <= now - WITHIN_S:
                times.popleft()
            if not times:
                del self._wrong[address]
