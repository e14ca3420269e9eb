"""The options for reading files: the keywords of ``load``."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Literal, TypedDict

from keypose.errors import OptionError
from keypose.formats.base import LoadOptions
from keypose.model.motion import MAX_FPS, MIN_FPS
from keypose.validation import check_choice, check_number, format_value

DEFAULT_LOAD_OPTIONS = LoadOptions()  # used by ``get``: bytes are stored unchanged only if these give the same motion


class LoadKeywords(TypedDict, total=False):
    """The keywords of ``load`` that ``add`` accepts."""

    reference_pose: Literal["auto", "keep", "drop"]
    asf: str | PathLike[str] | None
    gaps: Literal["fill", "refuse"]
    animation: str | int | None
    fps: float | None


def build_load_options(
    *,
    reference_pose: str = "auto",
    asf: str | PathLike[str] | None = None,
    gaps: str = "fill",
    animation: str | int | None = None,
    fps: float | None = None,
) -> LoadOptions:
    """Check the keywords and return LoadOptions."""
    if animation is not None and (isinstance(animation, bool) or not isinstance(animation, str | int)):
        raise OptionError(f"animation={format_value(animation)}, expected a name or a number")
    try:
        skeleton = None if asf is None else Path(asf).absolute()
    except TypeError:
        raise OptionError(f"asf={format_value(asf)}, expected the path of a file") from None
    return LoadOptions(
        check_choice("reference_pose", reference_pose, ("auto", "keep", "drop")),  # type: ignore[arg-type]
        skeleton,
        check_choice("gaps", gaps, ("fill", "refuse")),  # type: ignore[arg-type]
        animation,
        None if fps is None else check_number("fps", fps, min_value=MIN_FPS, max_value=MAX_FPS),
    )
