"""Options and jobs of the commands that draw one picture of one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Group, Parameter

from keypose.api.select import select
from keypose.api.selection_report import select_with_report
from keypose.api.unbake import unbake
from keypose.batch.convert import resample
from keypose.batch.file_discovery import load_clip, resolve_frame_range
from keypose.batch.swings import SwingsLoader
from keypose.cli import options as o
from keypose.cli import output
from keypose.cli.key_options import DEFAULT_COUNT, KeyCountFlags, SelectFlags, Set
from keypose.cli.output import UsageError, conflict_error, missing_argument_error
from keypose.cli.runner import run_write_jobs
from keypose.errors import OptionError
from keypose.metrics import position_errors_mm
from keypose.model import KeyedMotion, Motion, Selection, list_notes
from keypose.options import FeatureOptions, LoadOptions, Option
from keypose.pictures.curves import plot_curves
from keypose.pictures.error_curve import plot_errors
from keypose.pictures.path import plot_path
from keypose.pictures.svg import Picture, picture_path
from keypose.pictures.timeline import timeline

if TYPE_CHECKING:
    from keypose.cli.runner import HasSourceAndTarget


PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
PICTURE_GROUP = Parameter(group=Group("Picture", sort_key=1))
KEYS_GROUP = Parameter(group=Group("Keys", sort_key=3))
READ_GROUP = Parameter(group=Group("Reading", sort_key=4))
Overwrite = Annotated[o.OverwritePicture, PICTURE_GROUP]
Quiet = Annotated[bool, Parameter(negative="", alias="-q", help="Print nothing but errors."), PICTURE_GROUP]
Json = Annotated[o.Json, PICTURE_GROUP]
Mark = Annotated[
    tuple[str, ...],
    Parameter(negative="", help="Frames to mark as keys, such as 30,88, instead of choosing keys."),
    KEYS_GROUP,
]


@o.with_flags(
    omit=("joints", "features", "smoothing_s", "interpolation", "measure", "threshold", "extremes_first", "leading")
)
class PictureSelectFlags(SelectFlags):
    """How the keys of a picture are chosen."""


@o.with_flags(omit=("extremes_first",))
@dataclass(frozen=True)
class StripSelectFlags(SelectFlags):
    """All options of the methods, with ``farthest`` as default method, which chooses the most different poses."""

    method: Annotated[str, Option(PictureSelectFlags.help_of("method"))] = "farthest"


@o.with_flags(omit=tuple(name for name in PictureSelectFlags.omitted if name != "threshold"))
class CurveSelectFlags(PictureSelectFlags):
    """The same for curves, also of a reduced motion."""


DEFAULT_SELECT, DEFAULT_STRIP_SELECT = PictureSelectFlags(), StripSelectFlags()
DEFAULT_CURVE_SELECT = CurveSelectFlags()


@Parameter(name="*")
@dataclass(frozen=True)
class KeyFlags:
    """Which keys are drawn. Commands get None if none of these options was typed."""

    count: Annotated[KeyCountFlags, KEYS_GROUP] = DEFAULT_COUNT
    select: Annotated[PictureSelectFlags, KEYS_GROUP] = DEFAULT_SELECT
    set_: Annotated[Set, KEYS_GROUP] = ()

    def select_options(self, method: str | None = None) -> dict[str, Any]:
        """Return the options as keywords of ``select``, including method (None: --method) and number of keys."""
        o.check_key_count(self.count)
        method = method or self.select.method
        options = self.select.parse(self.set_, method=method)
        return {"method": method, **options, **o.drop_unset(self.count.typed_options())}


@Parameter(name="*")
@dataclass(frozen=True)
class StripKeyFlags(KeyFlags):
    """The same for a strip, of one method or of several."""

    select: Annotated[StripSelectFlags, KEYS_GROUP] = DEFAULT_STRIP_SELECT  # type: ignore[assignment]  # has more
    methods: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Draw a row for each of these methods, such as farthest,spread, instead of one."),
        KEYS_GROUP,
    ] = ()

    def rows(self) -> dict[str, dict[str, Any]]:
        """Return the keywords of ``select`` by method, in the order of the rows."""
        if not self.methods:
            return {self.select.method: self.select_options()}
        if "method" in self.select.typed_options():
            raise conflict_error("methods", "--method", "each says how keys are chosen")
        return {name: self.select_options(name) for name in o.parse_names("methods", self.methods)}


@Parameter(name="*")
@dataclass(frozen=True)
class CurveKeyFlags(KeyFlags):
    """The same for curves."""

    select: Annotated[CurveSelectFlags, KEYS_GROUP] = DEFAULT_CURVE_SELECT


@Parameter(name="*")
@dataclass(frozen=True)
class SourceFlags:
    """How the file is read."""

    range_: Annotated[o.Range, READ_GROUP] = None
    load: Annotated[o.LoadFlags, READ_GROUP] = o.DEFAULT_LOAD

    def frame_range(self) -> tuple[int | None, int | None] | None:
        """Return the range of frames as start and end of a slice; None: all frames."""
        return o.parse_range(self.range_)


DEFAULT_SOURCE = SourceFlags()


@Parameter(name="*")
@dataclass(frozen=True)
class PictureWriteFlags:
    """What happens to an existing picture, and what is printed."""

    overwrite: Overwrite = False
    json: Json = False
    quiet: Quiet = False


DEFAULT_WRITE = PictureWriteFlags()


@o.with_flags(only=("joints",))
class JointFlags(o.Flags, FeatureOptions):
    """The joints from which keys are chosen."""


DEFAULT_JOINTS = JointFlags()


@dataclass(frozen=True)
class DrawnPicture:
    """A picture that was written to a file."""

    width_px: float
    height_px: float
    description: str
    figures: Mapping[str, Any] = field(default_factory=dict)  # further fields for JSON
    notes: tuple[str, ...] = ()
    pixels: tuple[int, int] | None = None  # width and height of a PNG

    @property
    def size(self) -> str:
        """Return the size as text, in pixels for a PNG."""
        if self.pixels is not None:
            return f"{self.pixels[0]} x {self.pixels[1]} pixels"
        return f"{self.width_px:.0f} x {self.height_px:.0f} px"


PictureJob = TypeVar("PictureJob", bound="HasSourceAndTarget")


def check_picture_path(out: str, source: Path, *, overwrite: bool) -> Path:
    """Return the path of the picture, checked before any work is done."""
    if not out:
        raise missing_argument_error("the last name, where to, is empty", "a picture, such as walk.svg")
    target = picture_path(out)
    if os.path.realpath(target) == os.path.realpath(source):
        raise OptionError("is an input file", path=target, expected="another name for the picture")
    return o.check_output_file(target, "the name of a picture", overwrite=overwrite)


@contextmanager
def option_errors_as_usage() -> Iterator[None]:
    """Turn an OptionError of the library into a UsageError."""
    try:
        yield
    except OptionError as error:
        raise UsageError.from_error(error) from None


def parse_marked_frames(mark: Sequence[str], keys: KeyFlags | None) -> tuple[int, ...]:
    """Parse the frames to mark; raise UsageError if options choose keys as well."""
    if mark and keys is not None:
        raise UsageError(
            "already selects the keys",
            option="mark",
            value=True,
            hint="omit the options that select keys by a method",
        )
    return tuple(int(frame) for frame in o.parse_frames("--mark", mark))


def run_picture_job(
    verb: str, function: Callable[[PictureJob], DrawnPicture], job: PictureJob, *, json: bool, quiet: bool
) -> int:
    """Draw one picture and print a line; return the exit code."""
    run_result = run_write_jobs(verb, function, [job], (), 1, json=json, quiet=quiet)
    if json:
        output.print_json(run_result.document("pictures", lambda _, picture: picture_document(picture)))
    elif not quiet:
        run_result.print_notes(lambda picture: picture.notes)
        for picture_job, picture in run_result.results:
            output.print_line(f"{picture_job.target}: {picture.size}. {picture.description}")
    return run_result.finish(json=json)


def png_size(path: Path) -> tuple[int, int] | None:
    """Return width and height from the header of a PNG; None for other pictures."""
    with path.open("rb") as file:
        start = file.read(24)
    if not start.startswith(PNG_MAGIC):
        return None
    return int.from_bytes(start[16:20], "big"), int.from_bytes(start[20:24], "big")


def picture_document(picture: DrawnPicture) -> dict[str, Any]:
    """Return a written picture as JSON fields."""
    return {
        "width_px": picture.width_px,
        "height_px": picture.height_px,
        "width_pixels": None if picture.pixels is None else picture.pixels[0],
        "height_pixels": None if picture.pixels is None else picture.pixels[1],
        "description": picture.description,
        **picture.figures,
        "notes": list(picture.notes),
    }


@dataclass(frozen=True)
class Style:
    """The appearance of a picture."""

    options: Mapping[str, Any]  # keywords of the function that draws it
    scale: float  # pixels per px


def build_style(chart: o.Flags) -> Style:
    """Return the style; sizes are checked before any work is done."""
    chart.check()
    options = chart.options()
    return Style(options, options.pop("scale"))


@dataclass(frozen=True)
class TimelineJob:
    """Draw a timeline of swings."""

    source: Path
    target: Path
    loader: SwingsLoader
    style: Style
    marked_frames: tuple[int, ...]
    select_options: Mapping[str, Any] | None  # keywords of ``select``; None: no keys


@dataclass(frozen=True)
class CurvesJob:
    """Draw motion curves."""

    source: Path
    target: Path
    load_options: LoadOptions
    frames: tuple[int | None, int | None] | None
    style: Style
    marked_frames: tuple[int, ...]
    select_options: Mapping[str, Any] | None
    unbake_options: Mapping[str, Any] | None = None  # keywords of ``unbake``; None: no reduced curves


@dataclass(frozen=True)
class PathJob:
    """Draw the path of a joint, original and reduced."""

    source: Path
    target: Path
    load_options: LoadOptions
    frames: tuple[int | None, int | None] | None
    fps: float | None  # to which the motion is resampled
    style: Style
    unbake_options: Mapping[str, Any]


@dataclass(frozen=True)
class ErrorCurveJob:
    """Draw the error for every number of keys."""

    source: Path
    target: Path
    load_options: LoadOptions
    frames: tuple[int | None, int | None] | None
    style: Style
    select_options: Mapping[str, Any]


def draw_timeline(job: TimelineJob) -> DrawnPicture:
    """Find the swings of one file and draw them."""
    motion, swings = job.loader.find_swings(job.source)
    if motion is None and job.select_options is not None:
        raise OptionError("holds swings and no motion to choose keys of", path=job.source, hint="--mark says frames")
    keys = _select_keys(motion, job.marked_frames, job.select_options)
    options = dict(job.style.options)
    if options["actions"]:
        options["actions"] = swings.actions(motion)
    picture = timeline(swings, keys=keys, **options)
    figures = {"n_frames": swings.n_frames, "fps": swings.fps, "n_swings": swings.n_swings, "keys": _key_frames(keys)}
    return _save_picture(picture, job.target, job.style, figures, list_notes(swings))


def draw_curves(job: CurvesJob) -> DrawnPicture:
    """Read one file and draw the curves of its joints."""
    motion = load_clip(job.source, job.load_options)
    motion = motion[slice(*resolve_frame_range(job.frames, motion.n_frames))]
    reduced = None if job.unbake_options is None else _reduce(motion, job.unbake_options)
    keys = _select_keys(motion, job.marked_frames, job.select_options)
    picture = plot_curves(motion, keys, reduced=reduced, **job.style.options)
    key_frames = _key_frames(keys) if reduced is None else reduced.keys.tolist()
    figures = {"n_frames": motion.n_frames, "fps": motion.fps, "keys": key_frames}
    return _save_picture(picture, job.target, job.style, figures, list_notes(motion))


def draw_path(job: PathJob) -> DrawnPicture:
    """Read one file, unbake it, and draw the path of a joint."""
    motion = load_clip(job.source, job.load_options)
    motion = motion[slice(*resolve_frame_range(job.frames, motion.n_frames))]
    if job.fps is not None:
        motion = resample(motion, job.fps, job.source, job.load_options.limits)
    reduced = _reduce(motion, job.unbake_options)
    picture = plot_path(motion, reduced, **job.style.options)
    figures: dict[str, Any] = {"n_frames": motion.n_frames, "fps": motion.fps, "keys": reduced.keys.tolist()}
    figures |= dict.fromkeys(("mean_mm", "max_mm", "worst_frame"))
    if motion.height > 0:
        errors = position_errors_mm(motion, reduced.sample())[:, motion.joint(job.style.options["joint"])]
        worst_frame = int(errors.argmax())
        figures |= {"mean_mm": float(errors.mean()), "max_mm": float(errors.max()), "worst_frame": worst_frame}
    return _save_picture(picture, job.target, job.style, figures, list_notes(motion))


def _reduce(motion: Motion, unbake_options: Mapping[str, Any]) -> KeyedMotion:
    return unbake(motion, residual=False, **unbake_options)


def draw_error_curve(job: ErrorCurveJob) -> DrawnPicture:
    """Read one file, choose its keys, and draw the error for every number of keys."""
    motion = load_clip(job.source, job.load_options)
    start, stop = resolve_frame_range(job.frames, motion.n_frames)
    choice = select_with_report(motion, frames=(start, stop), **job.select_options)
    ladder, keys = choice.ladder, choice.selection
    options = dict(job.style.options)
    options["title"] = options["title"] or f"{motion.name}: error against keys, {ladder.method}"
    picture = plot_errors(ladder, chosen=keys, unit=choice.cost_unit, n_frames=stop - start, **options)
    figures = {
        "method": ladder.method,
        "n_frames": motion.n_frames,
        "range": [start, stop],
        "chosen": len(keys),
        "chosen_by": choice.count_source,
        "curve": [{"keys": n, "cost": cost} for n, cost in ladder.costs.items()],
        "cliffs": [cliff.keys for cliff in ladder.cliffs()],
    }
    return _save_picture(picture, job.target, job.style, figures, list_notes(motion))


def _select_keys(
    motion: Motion | None, marked_frames: tuple[int, ...], select_options: Mapping[str, Any] | None
) -> Selection | tuple[int, ...] | None:
    if motion is not None and select_options is not None:
        return select(motion, **select_options)
    return marked_frames or None


def _key_frames(keys: Selection | tuple[int, ...] | None) -> list[int]:
    return list(keys or ())


def _save_picture(
    picture: Picture, target: Path, style: Style, figures: Mapping[str, Any], notes: tuple[str, ...]
) -> DrawnPicture:
    picture.save(target, scale=style.scale)
    return DrawnPicture(picture.width, picture.height, picture.alt_text, figures, notes, png_size(target))
