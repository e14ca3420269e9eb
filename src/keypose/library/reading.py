"""How files are read on their way in: the keywords of ``load``."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Literal, TypedDict

from keypose.errors import OptionError
from keypose.formats.base import ReadOptions
from keypose.model.motion import GREATEST_FPS, LEAST_FPS
from keypose.options import number, one_of, shown

AS_IS = ReadOptions()  # what ``get`` reads by: bytes are kept as they came only where this gives the same motion


class Reading(TypedDict, total=False):
    """The keywords of ``load`` that ``add`` takes too."""

    reference_pose: Literal["auto", "keep", "drop"]
    asf: str | PathLike[str] | None
    gaps: Literal["fill", "refuse"]
    animation: str | int | None
    fps: float | None


def options_of(
    *,
    reference_pose: str = "auto",
    asf: str | PathLike[str] | None = None,
    gaps: str = "fill",
    animation: str | int | None = None,
    fps: float | None = None,
) -> ReadOptions:
    """The same, checked."""
    if animation is not None and (isinstance(animation, bool) or not isinstance(animation, str | int)):
        raise OptionError(f"animation={shown(animation)}, expected a name or a number")
    try:
        skeleton = None if asf is None else Path(asf).absolute()
    except TypeError:
        raise OptionError(f"asf={shown(asf)}, expected the path of a file") from None
    return ReadOptions(
        one_of("reference_pose", reference_pose, ("auto", "keep", "drop")),  # type: ignore[arg-type]
        skeleton,
        one_of("gaps", gaps, ("fill", "refuse")),  # type: ignore[arg-type]
        animation,
        None if fps is None else number("fps", fps, least=LEAST_FPS, most=GREATEST_FPS),
    )
