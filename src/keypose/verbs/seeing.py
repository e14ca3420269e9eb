"""What a person says about a motion -> what a method sees."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import ArrayLike

from keypose.errors import OptionError
from keypose.features import JointNames, features_of, features_of_array
from keypose.inbetween.costs import inbetween_costs
from keypose.methods import METHODS, Method
from keypose.model import EdgeCosts, Features, InbetweenCosts, Motion
from keypose.options import number

Source: TypeAlias = Motion | Features | EdgeCosts | InbetweenCosts | ArrayLike

COMMON_OPTIONS = {
    "max_keys": "go up to so many keys",
    "fps": "frames per second of a plain array",
    "features": "what the method sees: world, root_matched, unmatched, parent_relative or euler",
    "joints": "joints, body parts or groups that count",
    "weights": "weight of joints, body parts or groups on the squared distance, {'hands': 3}",
    "smoothing_s": "sigma in seconds of a Gaussian filter before anything else",
    "frames": "only these frames, (start, stop)",
}
BUDGETS = ("keys", "tolerance_mm", "auto")  # of select


class Look(NamedTuple):
    """How a motion is to be looked at; None for what the method was made for."""

    fps: float | None = None
    features: str | None = None
    joints: JointNames | None = None
    weights: Mapping[str, float] | None = None
    smoothing_s: float = 0.0


def method_of(name: str) -> Method:
    """The method of that name."""
    if not isinstance(name, str) or name not in METHODS:
        raise OptionError(f"method {name!r}{_instead(str(name), METHODS)}")
    return METHODS[name]


def check_options(
    method: Method, options: Mapping[str, Any], beside: Iterable[str] = (*COMMON_OPTIONS, *BUDGETS)
) -> None:
    """Refuses options that the method has not, with those that it has and those that every verb has ``beside``."""
    for name in options:
        if name not in method.options:
            elsewhere = [other.name for other in METHODS.values() if name in other.options]
            there = f" (an option of {', '.join(elsewhere)})" if elsewhere else ""
            known = (*method.options, *beside)
            raise OptionError(f"{method.name} has no option {name!r}{there}{_instead(name, known)}")


def _instead(wanted: str, known: Iterable[str]) -> str:
    listed = tuple(known)
    near = difflib.get_close_matches(wanted, listed, n=1)
    return (f"; did you mean {near[0]!r}?" if near else "") + f"; known: {', '.join(listed)}"


def length(source: Source) -> int:
    """How many frames there are."""
    if isinstance(source, str | bytes) or not hasattr(source, "__len__"):
        what = f"{source!r}" if isinstance(source, str | bytes) else type(source).__name__
        raise OptionError(f"{what}, expected a Motion, as kp.load gives, or an array of frames and columns")
    try:
        return len(source)  # type: ignore[arg-type]
    except TypeError:  # an array of no dimension
        raise OptionError("a single number, expected a Motion or an array of frames and columns") from None


def seen_by(
    method: Method, source: Source, look: Look, start: int, stop: int, options: Mapping[str, Any] | None = None
) -> Features | EdgeCosts | InbetweenCosts:
    """The features, or edge costs, of frames ``start`` to ``stop``; the method's options may ask for the latter."""
    seen: Features | EdgeCosts | InbetweenCosts
    if isinstance(source, Motion) and (options or {}).get("cost") == "inbetween":
        smooths = number("smoothing_s", look.smoothing_s, least=0) > 0
        unseen = {"fps": look.fps, "features": look.features, "smoothing_s": smooths or None}
        _refuse(unseen, "is not for cost='inbetween', which measures the motion itself")
        names = method.joints if look.joints is None else look.joints
        told = {name: value for name, value in (options or {}).items() if name in ("interpolation", "measure")}
        seen = inbetween_costs(source, names, look.weights, **told)
    elif isinstance(source, Motion):
        _refuse({"fps": look.fps}, "is for plain arrays: a Motion knows its own (for another rate use m.at_fps)")
        names = method.joints if look.joints is None else look.joints
        recipe = method.recipe if look.features is None else look.features
        seen = features_of(source, recipe, names, look.weights, look.smoothing_s)
    else:
        said = {"features": look.features, "joints": look.joints, "weights": look.weights}
        _refuse(said, "needs a Motion, which has joints")
        if isinstance(source, Features | EdgeCosts | InbetweenCosts):
            smooths = number("smoothing_s", look.smoothing_s, least=0) > 0
            _refuse({"fps": look.fps, "smoothing_s": smooths or None}, "is for motions and plain arrays")
            seen = source
        else:
            if look.fps is None and any(option.endswith("_s") for option in method.options):
                raise OptionError(f"{method.name} measures time in seconds: give fps= with a plain array")
            seen = features_of_array(source, look.fps, look.smoothing_s)
    if isinstance(seen, EdgeCosts | InbetweenCosts) and not method.takes_edge_costs:
        takers = ", ".join(row.name for row in METHODS.values() if row.takes_edge_costs)
        raise OptionError(f"{method.name} needs a motion or an array; edge costs are for {takers}")
    return seen if (start, stop) == (0, seen.n_frames) else seen[start:stop]


def _refuse(told: Mapping[str, object], why: str) -> None:
    for name, value in told.items():
        if value is not None:
            raise OptionError(f"{name}= {why}")
