"""What is compared, and at which budgets."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.model import Motion
from keypose.options import flag, number, one_of
from keypose.verbs.frames import FrameRange, frame_range

Inbetweens: TypeAlias = Literal["linear", "fitted", "polished"]
INBETWEENS: tuple[Inbetweens, ...] = ("linear", "fitted", "polished")
REMOVED_PERCENT = (80.0, 90.0, 95.0, 97.5)
SAME_RATE = 1e-3  # relative: rates that are as good as one
BASELINES = ("simplify", "decimate", "uniform")


@dataclass(frozen=True)
class Contender:
    """A way of choosing keys, or of doing without them."""

    name: str
    kind: Literal["method", "baseline", "reference"]
    summary: str
    method: str = ""  # of ``ladder``; empty of a reference
    options: Mapping[str, Any] = field(default_factory=dict)


BY_INBETWEEN = "salient-inbetween"  # the keys that unbake chooses
PER_CURVE, PCA = "per-curve", "pca"


def _contenders() -> dict[str, Contender]:
    found = {}
    for name, row in METHODS.items():
        found[name] = Contender(name, "baseline" if name in BASELINES else "method", row.summary, name)
        if name == "salient":
            summary = "optimal keys by the error of the curves that unbake fits"
            found[BY_INBETWEEN] = Contender(BY_INBETWEEN, "method", summary, name, {"cost": "inbetween"})
    return found


CONTENDERS: Mapping[str, Contender] = MappingProxyType(_contenders())
REFERENCES: Mapping[str, Contender] = MappingProxyType(
    {
        PER_CURVE: Contender(PER_CURVE, "reference", "each curve with keys of its own, as animation programs do"),
        PCA: Contender(PCA, "reference", "principal poses and how much of each there is in every frame"),
    }
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """Which methods and references, with which in-betweens, at which budgets."""

    methods: tuple[str, ...] = tuple(CONTENDERS)
    references: tuple[str, ...] = tuple(REFERENCES)
    removed_percent: tuple[float, ...] = REMOVED_PERCENT
    inbetweens: tuple[Inbetweens, ...] = ("linear", "fitted")
    curves: bool = True
    fps: float | None = None  # the greatest rate: slower clips stay at their own; None: all do
    frames: tuple[int | None, int | None] | None = None  # and only this part, read as a slice, at their own rate

    def __post_init__(self) -> None:
        for name in (*self.methods, *self.references):
            one_of("method", name, (*CONTENDERS, *REFERENCES))
        for name in self.inbetweens:
            one_of("inbetweens", name, INBETWEENS)
        for percent in self.removed_percent:
            number("removed_percent", percent, least=0, most=100)
        if not (self.methods or self.references):
            raise OptionError(f"no method, expected some of {', '.join((*CONTENDERS, *REFERENCES))}")
        if self.methods and not self.inbetweens:
            raise OptionError(f"no in-betweens, expected some of {', '.join(INBETWEENS)}")
        if not (self.removed_percent or self.curves):
            raise OptionError("no budget, expected removed_percent=(90, ...) or curves=True")
        for name in ("methods", "references", "removed_percent", "inbetweens"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        flag("curves", self.curves)
        if self.fps is not None:
            number("fps", self.fps, above=0)

    def part_of(self, motion: Motion) -> Motion:
        """What is compared of a motion: the part that was asked for, at that rate unless the motion is slower.

        Frames that are made up between others would be no work to leave out again.
        """
        start, stop = frame_range(self.frames, motion.n_frames)
        part = motion if (start, stop) == (0, motion.n_frames) else motion[start:stop]
        return part if self.fps is None or part.fps <= self.fps else part.at_fps(self.fps)

    def is_slower(self, fps: float) -> bool:
        """Whether clips of such a rate stay at it, because it is below the one that was asked for."""
        return self.fps is not None and fps < self.fps * (1 - SAME_RATE)


def settings_of(
    methods: str | Sequence[str] | None,
    removed_percent: float | Sequence[float],
    inbetweens: str | Sequence[str],
    *,
    curves: bool,
    fps: float | None = None,
    frames: FrameRange = None,
) -> Settings:
    """What a person says; ``methods`` names methods and references alike, None is all."""
    names = (*CONTENDERS, *REFERENCES) if methods is None else _several("methods", methods, str)
    for name in names:
        if name not in CONTENDERS and name not in REFERENCES:
            raise OptionError(f"method {name!r}{instead(str(name))}")
    percents = _several("removed_percent", removed_percent, (int, float))
    return Settings(
        methods=tuple(name for name in names if name in CONTENDERS),
        references=tuple(name for name in names if name in REFERENCES),
        removed_percent=tuple(number("removed_percent", percent, least=0, most=100) for percent in percents),
        inbetweens=_several("inbetweens", inbetweens, str),
        curves=flag("curves", curves),
        fps=fps,
        frames=_pair(frames),
    )


def _pair(frames: FrameRange) -> tuple[int | None, int | None] | None:
    """A range as its two ends."""
    if not isinstance(frames, slice):
        return frames
    if frames.step not in (None, 1):
        raise OptionError(f"frames={frames!r}, expected a range (start, stop)")
    return frames.start, frames.stop


def instead(wanted: str) -> str:
    """What to ask for in place of a method that there is not."""
    known = (*CONTENDERS, *REFERENCES)
    near = difflib.get_close_matches(wanted, known, n=1)
    return (f"; did you mean {near[0]!r}?" if near else "") + f"; known: {', '.join(known)}"


def _several(what: str, told: Any, kind: type | tuple[type, ...]) -> tuple[Any, ...]:
    """One or several of a kind."""
    if isinstance(told, kind):
        return (told,)
    try:
        return tuple(told)
    except TypeError:
        raise OptionError(f"{what}={told!r}, expected several") from None
