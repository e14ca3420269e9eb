"""How clips are to be read: the keywords of ``load`` as one value that goes to every worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from keypose.errors import OptionError
from keypose.formats import Limits, load
from keypose.model import Motion


@dataclass(frozen=True)
class Reading:
    """The keywords of ``load``."""

    reference_pose: Literal["auto", "keep", "drop"] = "auto"
    asf: Path | None = None
    gaps: Literal["fill", "refuse"] = "fill"
    animation: str | int | None = None
    fps: float | None = None
    limits: Limits = field(default_factory=Limits)

    def load(self, path: Path) -> Motion:
        """The motion in ``path``, read this way."""
        return load(
            path,
            reference_pose=self.reference_pose,
            asf=self.asf,
            gaps=self.gaps,
            animation=self.animation,
            fps=self.fps,
            limits=self.limits,
        )


def frames_meant(asked: tuple[int | None, int | None] | None, n_frames: int) -> tuple[int, int]:
    """The first frame of a range and the one after its last; ``asked`` is read as a slice is, and None is all."""
    ends = (None, None) if asked is None else asked
    start, stop, _ = slice(*ends).indices(n_frames)
    if start >= stop:
        text = ":".join("" if end is None else str(end) for end in ends)
        raise OptionError(f"--range {text} holds no frame: the clip has {n_frames} (0 to {n_frames - 1})")
    return start, stop
