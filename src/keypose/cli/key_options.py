"""Options for choosing keys and for the curves between them, shared by all commands that choose keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

from cyclopts import Group, Parameter

from keypose.cli.options import (
    DEFAULT_LOAD,
    Flags,
    LoadFlags,
    Range,
    ResampleFps,
    WholeNumber,
    check_key_count,
    find_method,
    parse_method_options,
    with_flags,
)
from keypose.options import (
    DEFAULT_METHOD,
    CurveOptions,
    FittedKeyCountOptions,
    KeyCountOptions,
    MethodOptions,
    SelectOptions,
    UnbakeOptions,
    option_of,
)

Set = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        negative="",
        help="Any other option of the method, NAME=VALUE: keypose methods lists them. May be given several times.",
    ),
]
COUNT_GROUP, KEYS_GROUP, CURVES_GROUP, READ_GROUP = (
    Parameter(group=Group(title, sort_key=order))
    for order, title in ((2, "Number of keys"), (3, "Choice of keys"), (4, "Curves between keys"), (5, "Reading"))
)


@with_flags()
class KeyCountFlags(Flags, KeyCountOptions):
    """What decides the number of keys."""


@with_flags()
class FittedKeyCountFlags(Flags, FittedKeyCountOptions):
    """What decides the number of keys with fitted curves between them."""


@with_flags()
class SelectFlags(Flags, SelectOptions):
    """How keys are chosen."""

    def parse(
        self, settings: Sequence[str], own_options: Sequence[str] = (), method: str | None = None
    ) -> dict[str, Any]:
        """Return the options that were typed, without the method (None: --method); ``settings`` are those of --set.

        ``own_options`` of the method are set elsewhere, so --set must not set them again.
        """
        typed = self.typed_options()
        typed.pop("method", None)
        offered = [each.name for each in fields(MethodOptions) if each.name not in self.omitted]
        method_options = dict.fromkeys((*offered, *own_options)) | {
            name: typed.pop(name) for name in offered if name in typed
        }
        return parse_method_options(find_method(method or self.method), method_options, settings) | typed


@with_flags(omit=("max_keys", "features", "smoothing_s", "cost", "interpolation", "threads"))
@dataclass(frozen=True)
class FittedSelectFlags(SelectFlags):
    """How keys are chosen for fitted curves between them."""

    method: Annotated[str, option_of(UnbakeOptions, "method")] = DEFAULT_METHOD


@with_flags()
class CurveFlags(Flags, CurveOptions):
    """How curves are fitted."""


DEFAULT_COUNT, DEFAULT_FITTED_COUNT, DEFAULT_SELECT = KeyCountFlags(), FittedKeyCountFlags(), SelectFlags()
DEFAULT_FITTED_SELECT, DEFAULT_CURVES = FittedSelectFlags(), CurveFlags()

Joints = Annotated[tuple[str, ...], Parameter(negative="", help=SelectFlags.help_of("joints"))]


@Parameter(name="*")
@dataclass(frozen=True)
class UnbakeFlags:
    """The keys of an unbaked motion, the curves between them, and how the capture is read."""

    count: Annotated[FittedKeyCountFlags, COUNT_GROUP] = DEFAULT_FITTED_COUNT
    curves: Annotated[CurveFlags, CURVES_GROUP] = DEFAULT_CURVES
    select: Annotated[FittedSelectFlags, KEYS_GROUP] = DEFAULT_FITTED_SELECT
    # Of the search for keys and of the fit.
    threads: Annotated[WholeNumber, Parameter(help=SelectFlags.help_of("threads")), KEYS_GROUP] = None
    set_: Annotated[Set, KEYS_GROUP] = ()
    fps: Annotated[ResampleFps, READ_GROUP] = None
    range_: Annotated[Range, READ_GROUP] = None
    load: Annotated[LoadFlags, READ_GROUP] = DEFAULT_LOAD

    def key_options(self) -> dict[str, Any]:
        """Return the keywords of key selection that were typed; raise UsageError for contradictory key counts."""
        check_key_count(self.count)
        return self.select.parse(self.set_, own_options=("interpolation", "threads"))

    def curve_options(self, *, residual: bool) -> dict[str, Any]:
        """Return the keywords of curve fitting."""
        threads = {} if self.threads is None else {"threads": self.threads}
        return self.curves.typed_options() | threads | {"residual": residual}


DEFAULT_UNBAKE = UnbakeFlags()
