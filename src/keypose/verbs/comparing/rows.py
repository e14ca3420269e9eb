"""One measurement: a clip, a method, in-betweens and a budget, and all that was measured there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, get_args, get_type_hints

from keypose.errors import ModelError
from keypose.options import shown

OWN = "own"  # the in-betweens of references
WORDS = {
    "kind": ("method", "baseline", "reference"),
    "inbetweens": ("linear", "fitted", "polished", OWN),
    "part": ("table", "curve"),
}
ABOVE_0 = ("frames", "fps", "source_fps", "joints", "keys_asked", "keys")
PERCENT = ("removed_percent_asked", "removed_percent")
LARGEST = 2**63 - 1  # of whole numbers: what tables can hold


class ClipIdentity(NamedTuple):
    """What tells a clip from others."""

    source: str
    name: str
    sha256: str


@dataclass(frozen=True)
class Row:
    """What one way to few numbers has lost on one clip at one budget, and what it takes.

    Errors are those of ``kp.score``. Where a method cannot be asked for so many keys, it stands here with the nearest
    number below, or without figures; ``note`` says why.
    """

    clip: str
    source: str  # the path; empty for a motion that came from none
    sha256: str  # of the frames that were compared
    frames: int
    fps: float  # at which it was compared
    source_fps: float  # and its own, before
    joints: int
    method: str
    kind: str  # "method", "baseline" or "reference"
    inbetweens: str  # "linear", "fitted", "polished"; "own" of references
    part: str  # "table": a budget that was asked for; "curve": one of those that draw the curve
    removed_percent_asked: float
    keys_asked: int
    keys: int | None = None  # None of references, and where there are no figures
    removed_percent: float | None = None  # of the frames, by the keys that there are
    stored_values: int | None = None
    stored_percent: float | None = None  # of the values of every frame
    mean_mm: float | None = None
    p95_mm: float | None = None
    max_mm: float | None = None
    mean_deg: float | None = None
    max_deg: float | None = None
    foot_slide_mm: float | None = None  # None: no foot ever stands
    original_foot_slide_mm: float | None = None
    key_acceleration: float | None = None
    choosing_s: float | None = None  # of the keys for every budget together
    fitting_s: float | None = None  # of these in-betweens; 0 of linear ones, which need no fit
    note: str = ""

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            value: Any = getattr(self, name)
            if value is None and kind.optional:
                continue
            if type(value) is not kind.type and not (kind.type is float and type(value) is int):
                raise _wrong(name, value, kind.type.__name__)
            if isinstance(value, int | float):
                _check_number(name, value)
            elif name in WORDS and value not in WORDS[name]:
                raise _wrong(name, value, f"one of {', '.join(WORDS[name])}")
        for name in ("keys_asked", "keys"):
            if (getattr(self, name) or 0) > self.frames:
                raise _wrong(name, getattr(self, name), f"at most the {self.frames} frames")
        if (self.kind == "reference") != (self.inbetweens == OWN):
            raise _wrong(
                "inbetweens", self.inbetweens, f"{OWN} of references and of nothing else, not of a {self.kind}"
            )

    @property
    def identity(self) -> ClipIdentity:
        """Which clip it is: names alone may be those of several."""
        return ClipIdentity(self.source, self.clip, self.sha256)

    @property
    def has_figures(self) -> bool:
        """Whether anything was measured."""
        return self.mean_mm is not None


def _check_number(name: str, value: float) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(name, value, "a finite number")
    if value < 0 or (value == 0 and name in ABOVE_0):
        raise _wrong(name, value, "a number above 0" if name in ABOVE_0 else "a number of at least 0")
    most = 100 if name in PERCENT else LARGEST if isinstance(value, int) else math.inf
    if value > most:
        raise _wrong(name, value, f"at most {most}")


def _wrong(name: str, value: Any, expected: str) -> ModelError:
    return ModelError(f"comparison: {name}={shown(value)}, expected {expected}")


@dataclass(frozen=True)
class Kind:
    """What a column holds."""

    type: type
    optional: bool


def _kinds() -> dict[str, Kind]:
    hints = get_type_hints(Row)
    found = {}
    for field in fields(Row):
        options = get_args(hints[field.name])
        found[field.name] = Kind(options[0], True) if options else Kind(hints[field.name], False)
    return found


KINDS: Mapping[str, Kind] = _kinds()
FIGURES = (
    *("stored_values", "stored_percent", "mean_mm", "p95_mm", "max_mm", "mean_deg", "max_deg", "foot_slide_mm"),
    *("original_foot_slide_mm", "key_acceleration", "choosing_s", "fitting_s"),
)


def row_of(told: Mapping[str, Any]) -> Row:
    """A row from what a file says of it; columns that are not there are an error."""
    missing = [name for name in KINDS if name not in told]
    if missing or len(told) != len(KINDS):
        other = [str(name) for name in told if name not in KINDS]
        found = f"without {', '.join(missing)}" if missing else f"with {', '.join(other)[:200]}"
        raise ModelError(f"comparison: columns {found}, expected those of a comparison")
    return Row(**told)
