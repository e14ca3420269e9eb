"""How clips are to be read: the keywords of ``load`` as one value that goes to every worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

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
