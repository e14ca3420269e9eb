"""Commands that draw one picture of one file: the options that they share, and their run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from cyclopts import Group, Parameter

from keypose.cli import choosing as c
from keypose.cli import options as o
from keypose.cli.exits import UsageError

if TYPE_CHECKING:
    from keypose.batch.reading import Reading
    from keypose.cli.running import Job

PNG = b"\x89PNG\r\n\x1a\n"
LOOK = Parameter(group=Group("The picture", sort_key=1))
KEYS = Parameter(group=Group("Which keys", sort_key=3))
READING = Parameter(group=Group("How the file is read", sort_key=4))
Theme = Annotated[Literal["light", "dark"], Parameter(show_default=True, help="The colour of the paper."), LOOK]
WidthPx = Annotated[float, Parameter(show_default=True, help="How wide the picture is, in px."), LOOK]
Title = Annotated[str | None, Parameter(help="What stands above it. Otherwise the name of the motion."), LOOK]
Scale = Annotated[float, Parameter(show_default=True, help="Pixels to a px of a PNG."), LOOK]
Overwrite = Annotated[
    bool, Parameter(negative="--no-overwrite", help="Replace the picture if it exists. Otherwise it is refused."), LOOK
]
Quiet = Annotated[bool, Parameter(negative="", alias="-q", help="Print nothing but errors."), LOOK]
Json = Annotated[o.Json, LOOK]
Mark = Annotated[
    tuple[str, ...],
    Parameter(negative="", help="Frames to mark as keys, 30,88, in place of choosing some."),
    KEYS,
]


@Parameter(name="*", help="Which keys to choose.")
@dataclass(frozen=True)
class Choosing:
    """The options of ``keypose keys``, but for those that a picture has another use for."""

    method: Annotated[
        str | None, Parameter(help="How to choose keys: one that keypose methods lists. Otherwise salient."), KEYS
    ] = None
    keys: Annotated[int | None, Parameter(help="So many keys."), KEYS] = None
    tolerance_mm: Annotated[
        float | None,
        Parameter(help="Fewest keys whose straight in-betweens leave no joint farther off, on a figure of 1.7 m."),
        KEYS,
    ] = None
    auto: Annotated[
        bool, Parameter(negative="", help="As many keys as the error curve says: a cliff, or its knee."), KEYS
    ] = False
    max_keys: Annotated[int | None, Parameter(help="Where the error curve ends."), KEYS] = None
    pin: Annotated[c.Pin, KEYS] = ()
    exclude: Annotated[c.Exclude, KEYS] = ()
    weight: Annotated[c.Weight, KEYS] = ()
    objective: Annotated[c.Objective, KEYS] = None
    cost: Annotated[
        Literal["chord", "integrated", "inbetween"] | None,
        Parameter(
            help="The cost of a span: the largest distance off its chord, the sum of their squares, or the error of "
            "the in-betweens that unbake makes, in mm."
        ),
        KEYS,
    ] = None
    least_gap_frames: Annotated[c.LeastGap, KEYS] = None
    greatest_gap_frames: Annotated[c.GreatestGap, KEYS] = None
    loop: Annotated[c.Loop, KEYS] = False
    threads: Annotated[c.Threads, KEYS] = None
    set_: Annotated[c.Set, KEYS] = ()

    @property
    def wants_keys(self) -> bool:
        """Whether anything was said about which keys."""
        return self != type(self)()

    def options(self) -> dict[str, Any]:
        """What was said, as keywords of ``choose`` and ``select``, method and budget included."""
        from keypose.cli import keys_options as told

        told.check_budget(self.keys, self.tolerance_mm, auto=self.auto)
        method = self.method or "salient"
        options = told.options_from(
            told.method_from(method),
            {
                "pins": told.frames_from("--pin", self.pin, contacts=True),
                "excluded": told.frames_from("--exclude", self.exclude),
                "objective": self.objective,
                "cost": self.cost,
                "least_gap_frames": self.least_gap_frames,
                "greatest_gap_frames": self.greatest_gap_frames,
                "loop": self.loop,
                "threads": self.threads,
            },
            self.set_,
        )
        budget = {"keys": self.keys, "tolerance_mm": self.tolerance_mm, "auto": self.auto, "max_keys": self.max_keys}
        return {"method": method, **options, **told.given(budget | {"weights": told.weights_from(self.weight)})}


@Parameter(name="*", help="Which keys to choose.")
@dataclass(frozen=True)
class Poses(Choosing):
    """Which keys to choose, by another method than usual: the one that is best at telling poses apart."""

    method: Annotated[
        str | None, Parameter(help="How to choose keys: one that keypose methods lists. Otherwise farthest."), KEYS
    ] = None


@Parameter(name="*", help="How the file is read.")
@dataclass(frozen=True)
class Source:
    """How the file is read, as for every command that reads one."""

    range_: Annotated[o.Range, READING] = None
    reference_pose: Annotated[o.ReferencePose, READING] = "auto"
    asf: Annotated[o.Asf, READING] = None
    gaps: Annotated[o.Gaps, READING] = "fill"
    animation: Annotated[o.Animation, READING] = None
    read_fps: Annotated[o.ReadFps, READING] = None
    limit: Annotated[o.LimitOption, READING] = ()

    def reading(self) -> Reading:
        """The same in the words of the library."""
        return o.reading_from(self.reference_pose, self.asf, self.gaps, self.animation, self.read_fps, self.limit)

    def frames(self) -> tuple[int | None, int | None] | None:
        """The range of frames, as a slice has it."""
        return o.range_from(self.range_)


@dataclass(frozen=True)
class Drawn:
    """A picture that was written."""

    width_px: float
    height_px: float
    says: str
    figures: Mapping[str, Any] = field(default_factory=dict)  # more for JSON
    notes: tuple[str, ...] = ()
    pixels: tuple[int, int] | None = None  # of a PNG

    @property
    def size(self) -> str:
        """How large the file is that was written: in pixels if it has any."""
        if self.pixels is not None:
            return f"{self.pixels[0]} x {self.pixels[1]} pixels"
        return f"{self.width_px:.0f} x {self.height_px:.0f} px"


Work = TypeVar("Work", bound="Job")


def target_from(out: str, source: Path, *, overwrite: bool) -> Path:
    """Where the picture goes, checked before any work is done."""
    from keypose.errors import FileError, OptionError
    from keypose.pictures.picture import picture_path

    if not out:
        raise UsageError("the last name, where to, is empty; expected a picture, such as walk.svg")
    target = picture_path(out)
    if os.path.realpath(target) == os.path.realpath(source):
        raise OptionError(f"{target}: is to be read, expected another name for the picture")
    if target.is_dir():
        raise FileError(f"{target}: is a folder, expected the name of a picture")
    if not target.parent.is_dir():
        raise FileError(f"{target.parent}: no such folder")
    if os.path.lexists(target) and not overwrite:
        raise FileError(f"{target}: exists already; --overwrite replaces it")
    return target


@contextmanager
def of_the_command_line() -> Iterator[None]:
    """What the library refuses in here is an option that cannot be meant."""
    from keypose.cli.wording import for_command_line
    from keypose.errors import OptionError

    try:
        yield
    except OptionError as error:
        raise UsageError(for_command_line(str(error))) from None


def marked_from(mark: Sequence[str], choosing: Choosing) -> tuple[int, ...]:
    """Frames to mark, if they were said and nothing was said of choosing any."""
    from keypose.cli.keys_options import frames_from

    if mark and choosing.wants_keys:
        raise UsageError("--mark says which frames are keys, and another option how to choose some: expected one")
    return tuple(int(frame) for frame in frames_from("--mark", mark))


def run(verb: str, function: Callable[[Work], Drawn], job: Work, *, json: bool, quiet: bool) -> int:
    """Draws one picture and says so; the exit code."""
    from keypose.cli import output, said
    from keypose.cli.running import run_all

    ran = run_all(verb, function, [job], (), 1, said.heard, json=json, quiet=quiet)
    if json:
        output.show_json(ran.document("pictures", lambda _, drawn: document(drawn)))
    elif not quiet:
        ran.say_notes(lambda drawn: drawn.notes)
        for made, drawn in ran.written:
            output.line(f"{made.target}: {drawn.size}. {drawn.says}")
    return ran.code(json=json)


def pixels_in(path: Path) -> tuple[int, int] | None:
    """Width and height of a PNG, as it says itself; None for another picture."""
    with path.open("rb") as file:
        start = file.read(24)
    if not start.startswith(PNG):
        return None
    return int.from_bytes(start[16:20], "big"), int.from_bytes(start[20:24], "big")


def document(drawn: Drawn) -> dict[str, Any]:
    """A picture that was written, for JSON."""
    return {
        "width_px": drawn.width_px,
        "height_px": drawn.height_px,
        "width_pixels": None if drawn.pixels is None else drawn.pixels[0],
        "height_pixels": None if drawn.pixels is None else drawn.pixels[1],
        "says": drawn.says,
        **drawn.figures,
        "notes": list(drawn.notes),
    }
