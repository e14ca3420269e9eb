"""The keywords of ``load`` as one value that is sent to every worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from keypose.errors import OptionError
from keypose.formats import Limits, load
from keypose.model import Motion


@dataclass(frozen=True)
class ClipLoadOptions:
    """The keywords of ``load``."""

    reference_pose: Literal["auto", "keep", "drop"] = "auto"
    asf: Path | None = None
    gaps: Literal["fill", "refuse"] = "fill"
    animation: str | int | None = None
    fps: float | None = None
    limits: Limits = field(default_factory=Limits)

    def load(self, path: Path) -> Motion:
        """Load the motion in ``path`` with these options."""
        return load(
            path,
            reference_pose=self.reference_pose,
            asf=self.asf,
            gaps=self.gaps,
            animation=self.animation,
            fps=self.fps,
            limits=self.limits,
        )


def resolve_frame_range(frame_range: tuple[int | None, int | None] | None, n_frames: int) -> tuple[int, int]:
    """Return start and stop of a range given as in a slice; None: the whole clip. An empty range is an OptionError."""
    ends = (None, None) if frame_range is None else frame_range
    start, stop, _ = slice(*ends).indices(n_frames)
    if start >= stop:
        text = ":".join("" if end is None else str(end) for end in ends)
        raise OptionError(f"--range {text} holds no frame: the clip has {n_frames} (0 to {n_frames - 1})")
    return start, stop
