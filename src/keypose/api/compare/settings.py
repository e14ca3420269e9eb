"""Options of a comparison: methods, in-betweens and budgets; and the rows that follow from them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from keypose.api.compare.tables import OWN, Row
from keypose.api.method_input import FrameRange, parse_frame_range
from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.model import Motion
from keypose.options import check_option_number
from keypose.options.compare import ComparisonOptions, Inbetweens
from keypose.validation import check_bool, check_choice

INBETWEENS: tuple[Inbetweens, ...] = get_args(Inbetweens)
_DEFAULTS = ComparisonOptions()
SAME_RATE = 1e-3  # relative difference of rates that count as equal
BASELINES = ("simplify", "decimate", "uniform")

BY_INBETWEEN = "salient-inbetween"  # the keys that ``unbake`` selects
PER_CURVE, PCA = "per-curve", "pca"

CURVE_POINTS = 12
MAX_CURVE_KEYS = 1000  # more keys hardly change the curve and take long to select


@dataclass(frozen=True)
class ComparedMethod:
    """A method that selects keys, or a reference without keys."""

    name: str
    kind: Literal["method", "baseline", "reference"]
    summary: str
    method: str = ""  # of ``ladder``; empty for a reference
    options: Mapping[str, Any] = field(default_factory=dict)


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
    removed_percent: tuple[float, ...] = _DEFAULTS.removed_percent
    inbetweens: tuple[Inbetweens, ...] = _DEFAULTS.inbetweens
    curves: bool = _DEFAULTS.curves
    fps: float | None = None  # maximum rate: slower clips keep their own; None: all do
    frames: tuple[int | None, int | None] | None = None  # range as in a slice, at the clip's own rate

    def __post_init__(self) -> None:
        for name in (*self.methods, *self.references):
            check_choice("method", name, (*COMPARED_METHODS, *REFERENCES))
        for name in self.inbetweens:
            check_choice("inbetweens", name, INBETWEENS)
        for percent in self.removed_percent:
            check_option_number(ComparisonOptions, "removed_percent", percent)
        if not (self.methods or self.references):
            raise OptionError("no method", expected=f"some of {', '.join((*COMPARED_METHODS, *REFERENCES))}")
        if self.methods and not self.inbetweens:
            raise OptionError("no in-betweens", expected=f"some of {', '.join(INBETWEENS)}")
        if not (self.removed_percent or self.curves):
            raise OptionError("no budget", expected="removed_percent=(90, ...) or curves=True")
        for name in ("methods", "references", "removed_percent", "inbetweens"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        check_bool("curves", self.curves)
        if self.fps is not None:
            check_option_number(ComparisonOptions, "fps", self.fps)

    def trim(self, motion: Motion) -> Motion:
        """Return the requested range of a motion, at the requested rate unless the motion is slower.

        Upsampled frames could be removed without error, so that every method would have better figures.
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
        if not isinstance(name, str) or (name not in COMPARED_METHODS and name not in REFERENCES):
            raise OptionError(option="method", value=name, hint=suggest_method(name if isinstance(name, str) else ""))
    percents = _as_tuple("removed_percent", removed_percent, (int, float))
    return CompareOptions(
        methods=tuple(name for name in names if name in COMPARED_METHODS),
        references=tuple(name for name in names if name in REFERENCES),
        removed_percent=tuple(
            check_option_number(ComparisonOptions, "removed_percent", percent) for percent in percents
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
        raise OptionError(option="frames", value=frames, expected="a range (start, stop)")
    return frames.start, frames.stop


def suggest_method(name: str) -> str:
    """Return a suggestion for an unknown method name."""
    names = (*COMPARED_METHODS, *REFERENCES)
    near = difflib.get_close_matches(name, names, n=1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"known: {', '.join(names)}"


def _as_tuple(name: str, value: Any, kind: type | tuple[type, ...]) -> tuple[Any, ...]:
    """Return one or several values as a tuple."""
    if isinstance(value, kind):
        return (value,)
    try:
        return tuple(value)
    except TypeError:
        raise OptionError(option=name, value=value, expected="several") from None


class Budget(NamedTuple):
    """A number of keys, and the percentage of frames that it removes."""

    series: str  # "table" or "curve"
    removed_percent: float
    keys: int


def build_budgets(n_frames: int, removed_percent: Sequence[float], *, curves: bool) -> tuple[Budget, ...]:
    """Return the budgets of the table in order, then the others of the curve, from few keys to many."""
    table = [Budget("table", percent, count_keys(n_frames, percent)) for percent in removed_percent]
    table_counts = {budget.keys for budget in table}
    grid = [keys for keys in curve_keys(n_frames) if keys not in table_counts] if curves else []
    return (*table, *(Budget("curve", compute_removed_percent(n_frames, keys), keys) for keys in grid))


def count_keys(n_frames: int, removed_percent: float) -> int:
    """Return how many keys remain when this percentage of frames is removed: at least two, if there are two frames."""
    return min(n_frames, max(2, round(n_frames * (1 - removed_percent / 100))))


def compute_removed_percent(n_frames: int, keys: int) -> float:
    """Return the percentage of frames that are not keys."""
    return 100.0 * (n_frames - keys) / n_frames


def curve_keys(n_frames: int) -> list[int]:
    """Return numbers of keys from 1 % to 25 % of the frames, evenly spaced on a logarithmic scale.

    With more keys, fitted curves would pass through nearly every frame.
    """
    min_keys = max(2, n_frames // 100)
    max_keys = max(min_keys, min(n_frames // 4, MAX_CURVE_KEYS))
    counts = np.geomspace(min_keys, max_keys, CURVE_POINTS).round().astype(int)
    return sorted({min(keys, n_frames) for keys in counts.tolist()})


class RowSpec(NamedTuple):
    """The method, in-betweens and budget of one row."""

    method: str
    kind: str
    inbetweens: str
    series: str
    target_removed_percent: float
    target_keys: int


def build_row_specs(n_frames: int, settings: CompareOptions) -> Iterator[RowSpec]:
    """Return the expected rows of a clip with this many frames."""
    budgets = build_budgets(n_frames, settings.removed_percent, curves=settings.curves)
    for name in settings.methods:
        for budget in budgets:
            for inbetweens in settings.inbetweens:
                yield RowSpec(name, COMPARED_METHODS[name].kind, inbetweens, *budget)
    for name in settings.references:
        for budget in budgets:
            yield RowSpec(name, REFERENCES[name].kind, OWN, *budget)


def is_complete(rows: Sequence[Row], motion: Motion, digest: str, settings: CompareOptions) -> bool:
    """Return whether ``rows`` are exactly the expected rows of a motion; ``digest`` is the motion's."""
    clip = (digest, motion.n_frames, motion.fps, motion.n_joints)
    specs = [tuple(getattr(row, name) for name in RowSpec._fields) for row in rows]
    return specs == list(build_row_specs(motion.n_frames, settings)) and all(
        (row.sha256, row.frames, row.fps, row.joints) == clip for row in rows
    )
