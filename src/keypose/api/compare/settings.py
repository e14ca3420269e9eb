"""Options of a comparison: methods, in-betweens and budgets."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from keypose.api.frames import FrameRange, parse_frame_range
from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.model import Motion
from keypose.validation import check_bool, check_choice, check_number

Inbetweens: TypeAlias = Literal["linear", "fitted", "polished"]
INBETWEENS: tuple[Inbetweens, ...] = ("linear", "fitted", "polished")
REMOVED_PERCENT = (80.0, 90.0, 95.0, 97.5)
SAME_RATE = 1e-3  # relative difference of rates that count as equal
BASELINES = ("simplify", "decimate", "uniform")


@dataclass(frozen=True)
class ComparedMethod:
    """A method that selects keys, or a reference without keys."""

    name: str
    kind: Literal["method", "baseline", "reference"]
    summary: str
    method: str = ""  # of ``ladder``; empty for a reference
    options: Mapping[str, Any] = field(default_factory=dict)


BY_INBETWEEN = "salient-inbetween"  # the keys that unbake selects
PER_CURVE, PCA = "per-curve", "pca"


def _compared_methods() -> dict[str, ComparedMethod]:
    compared = {}
    for name, row in METHODS.items():
        compared[name] = ComparedMethod(name, "baseline" if name in BASELINES else "method", row.summary, name)
        if name == "salient":
            summary = "optimal keys by the error of the curves that unbake fits"
            compared[BY_INBETWEEN] = ComparedMethod(BY_INBETWEEN, "method", summary, name, {"cost": "inbetween"})
    return compared


COMPARED_METHODS: Mapping[str, ComparedMethod] = MappingProxyType(_compared_methods())
REFERENCES: Mapping[str, ComparedMethod] = MappingProxyType(
    {
        PER_CURVE: ComparedMethod(PER_CURVE, "reference", "each curve with keys of its own, as animation programs do"),
        PCA: ComparedMethod(PCA, "reference", "principal poses and how much of each there is in every frame"),
    }
)  # fmt: skip


@dataclass(frozen=True)
class CompareOptions:
    """Methods and references, in-betweens, and budgets to compare."""

    methods: tuple[str, ...] = tuple(COMPARED_METHODS)
    references: tuple[str, ...] = tuple(REFERENCES)
    removed_percent: tuple[float, ...] = REMOVED_PERCENT
    inbetweens: tuple[Inbetweens, ...] = ("linear", "fitted")
    curves: bool = True
    fps: float | None = None  # maximum rate: slower clips keep their own; None: all do
    frames: tuple[int | None, int | None] | None = None  # range as in a slice, at the clip's own rate

    def __post_init__(self) -> None:
        for name in (*self.methods, *self.references):
            check_choice("method", name, (*COMPARED_METHODS, *REFERENCES))
        for name in self.inbetweens:
            check_choice("inbetweens", name, INBETWEENS)
        for percent in self.removed_percent:
            check_number("removed_percent", percent, min_value=0, max_value=100)
        if not (self.methods or self.references):
            raise OptionError(f"no method, expected some of {', '.join((*COMPARED_METHODS, *REFERENCES))}")
        if self.methods and not self.inbetweens:
            raise OptionError(f"no in-betweens, expected some of {', '.join(INBETWEENS)}")
        if not (self.removed_percent or self.curves):
            raise OptionError("no budget, expected removed_percent=(90, ...) or curves=True")
        for name in ("methods", "references", "removed_percent", "inbetweens"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        check_bool("curves", self.curves)
        if self.fps is not None:
            check_number("fps", self.fps, above=0)

    def trim(self, motion: Motion) -> Motion:
        """Return the requested range of a motion, at the requested rate unless the motion is slower.

        Upsampled frames would be trivial to leave out, and make every method look better.
        """
        start, stop = parse_frame_range(self.frames, motion.n_frames)
        part = motion if (start, stop) == (0, motion.n_frames) else motion[start:stop]
        return part if self.fps is None or part.fps <= self.fps else part.at_fps(self.fps)

    def is_slower(self, fps: float) -> bool:
        """Return whether clips of this rate keep it, because it is below the requested one."""
        return self.fps is not None and fps < self.fps * (1 - SAME_RATE)


def build_compare_options(
    methods: str | Sequence[str] | None,
    removed_percent: float | Sequence[float],
    inbetweens: str | Sequence[str],
    *,
    curves: bool,
    fps: float | None = None,
    frames: FrameRange = None,
) -> CompareOptions:
    """Return checked options; ``methods`` names methods and references, None: all."""
    names = (*COMPARED_METHODS, *REFERENCES) if methods is None else _as_tuple("methods", methods, str)
    for name in names:
        if name not in COMPARED_METHODS and name not in REFERENCES:
            raise OptionError(f"method {name!r}{suggest_method(str(name))}")
    percents = _as_tuple("removed_percent", removed_percent, (int, float))
    return CompareOptions(
        methods=tuple(name for name in names if name in COMPARED_METHODS),
        references=tuple(name for name in names if name in REFERENCES),
        removed_percent=tuple(
            check_number("removed_percent", percent, min_value=0, max_value=100) for percent in percents
        ),
        inbetweens=_as_tuple("inbetweens", inbetweens, str),
        curves=check_bool("curves", curves),
        fps=fps,
        frames=_range_ends(frames),
    )


def _range_ends(frames: FrameRange) -> tuple[int | None, int | None] | None:
    """Return start and stop of a range."""
    if not isinstance(frames, slice):
        return frames
    if frames.step not in (None, 1):
        raise OptionError(f"frames={frames!r}, expected a range (start, stop)")
    return frames.start, frames.stop


def suggest_method(name: str) -> str:
    """Return a suggestion for an unknown method name."""
    names = (*COMPARED_METHODS, *REFERENCES)
    near = difflib.get_close_matches(name, names, n=1)
    return (f"; did you mean {near[0]!r}?" if near else "") + f"; known: {', '.join(names)}"


def _as_tuple(name: str, value: Any, kind: type | tuple[type, ...]) -> tuple[Any, ...]:
    """Return one or several values as a tuple."""
    if isinstance(value, kind):
        return (value,)
    try:
        return tuple(value)
    except TypeError:
        raise OptionError(f"{name}={value!r}, expected several") from None
