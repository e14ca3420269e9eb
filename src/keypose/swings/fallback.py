"""Keys where swings describe a joint badly: slow and still joints, and whatever does not turn about one axis."""

from __future__ import annotations

from keypose.model import Motion
from keypose.swings.noun import Swings


def with_keys(motion: Motion, found: Swings, tolerance_deg: float) -> Swings:
    """``found`` with keys wherever its playback is farther off than the tolerance."""
    raise NotImplementedError
