"""The run of ``keypose strip``: what was typed, the work on one clip, and what is said of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from keypose.batch.convert import make_folder
from keypose.batch.inputs import Inputs
from keypose.batch.plan import Existing, Plan, Target
from keypose.batch.reading import Reading, frames_meant
from keypose.cli import output, said, targets
from keypose.cli.exits import UsageError
from keypose.cli.picturing import Choosing, Drawn, document, of_the_command_line, pixels_in
from keypose.cli.running import Run, run_all
from keypose.methods import METHODS
from keypose.model import Motion, Selection
from keypose.options import number, whole
from keypose.pictures.picture import LEAST_SCALE, MOST_SCALE, SUFFIXES, picture_path
from keypose.pictures.strip import strip
from keypose.pictures.strip.canvas import Wish
from keypose.pictures.strip.choice import MOST_POSES, USUAL_KEYS
from keypose.pictures.strip.layouts import check_rows
from keypose.pictures.view import VIEWS, view_of
from keypose.verbs import ladder, select

USUAL_METHOD = "farthest"


@dataclass(frozen=True)
class StripWanted:
    """A strip of one file."""

    source: Path
    target: Path
    reading: Reading
    frames: tuple[int | None, int | None] | None  # start and end as in a slice
    look: Mapping[str, Any]  # options of ``strip``
    marked: tuple[int, ...]  # these frames, or
    choosing: Mapping[str, Any]  # options of ``select``, its method included


def choosing_from(choosing: Choosing, joints: str | Sequence[str], marked: Sequence[int]) -> dict[str, Any]:
    """How keys are to be chosen: by the method that was said, or the one that is best at telling poses apart."""
    if joints and marked:
        raise UsageError("--mark says which frames are shown, and --joints how to choose some: expected one")
    told = replace(choosing, method=choosing.method or USUAL_METHOD).options()
    return told | ({"joints": joints} if joints else {})


def view_from(text: str) -> str | float:
    """A view by its name, or degrees."""
    if text in VIEWS:
        return text
    if re.fullmatch(r"[+-]?[0-9]{1,6}(\.[0-9]*)?", text):
        return float(text)
    raise UsageError(f"--view {text}: expected one of {', '.join(VIEWS)}, or degrees from the front to the left")


def size_from(text: str | None) -> tuple[float, float] | None:
    """``320x90`` as width and height."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,6}) ?[x×] ?([0-9]{1,6})", text.strip())
    if not found:
        raise UsageError(f"--size-px {text}: expected WIDTHxHEIGHT, such as 320x90")
    return float(found[1]), float(found[2])


def check_look(look: Mapping[str, Any]) -> None:
    """Refuses sizes and numbers that no strip has, before any work is done."""
    with of_the_command_line():
        check_rows(look["per_row"], look["layout"])
        Wish.of(look["height_px"], look["width_px"], look["size_px"])
        whole("ghosts", look["ghosts"], least=0, most=MOST_POSES)
        if look["scale"] is not None:
            number("scale", look["scale"], least=LEAST_SCALE, most=MOST_SCALE)


def plan_from(inputs: Inputs, names: Sequence[str], out: str, to: str | None, existing: Existing) -> Plan:
    """Where each picture goes: one file to a picture, more into a folder."""
    alone = len(names) == 1 and [str(file.path) for file in inputs.files] == [str(Path(names[0]))]
    is_folder = out.endswith(("/", "\\")) or os.path.isdir(out)  # noqa: PTH112 - Path raises for long names
    if alone and to is None and not is_folder:
        picture_path(out)
    elif not is_folder and Path(out).suffix.lower() in SUFFIXES:
        raise UsageError(f"{out} is one picture, expected a folder for more of them: {out}/ makes it one")
    else:
        to = to or "png"
    return targets.plan_from(inputs, names, out, to, existing, "strip", SUFFIXES)


def draw_strip(wanted: StripWanted) -> Drawn:
    """Reads one file, chooses its keys and draws them."""
    motion = wanted.reading.load(wanted.source)
    span = frames_meant(wanted.frames, motion.n_frames)
    keys = wanted.marked or _chosen(motion, span, wanted.choosing)
    make_folder(wanted.target.parent)
    picture = strip(motion, keys, wanted.target, **wanted.look)
    shown = sorted(set(keys))
    figures = {
        "layout": wanted.look["layout"],
        "view": wanted.look["view"],
        "view_degrees": round(view_of(motion, wanted.look["view"]).degrees, 1),
        "method": None if wanted.marked else wanted.choosing["method"],
        "n_frames": motion.n_frames,
        "fps": motion.fps,
        "frames": shown,
        "times_s": [frame / motion.fps for frame in shown],
    }
    pixels = pixels_in(wanted.target)
    return Drawn(picture.width, picture.height, picture.says, figures, motion.notes, pixels)


def _chosen(motion: Motion, span: tuple[int, int], choosing: Mapping[str, Any]) -> Selection:
    """The keys; where nothing says how many, the method's own number, or as many as a strip usually has."""
    if {"keys", "tolerance_mm", "auto"} & set(choosing) or METHODS[choosing["method"]].has_own_count:
        return select(motion, frames=span, **choosing)
    found = ladder(motion, frames=span, **({"max_keys": USUAL_KEYS} | dict(choosing)))
    return found.at(int(found.counts[-1]))  # fewer where poses are all alike


def run(work: Sequence[StripWanted], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Draws all, and says what became of it; the exit code."""
    ran = run_all("Drawing", draw_strip, work, skipped, jobs, said.heard, json=json, quiet=quiet)
    if json:
        output.show_json(ran.document("pictures", lambda _, drawn: document(drawn)))
    elif not quiet:
        _say(ran)
    return ran.code(json=json)


def _say(ran: Run[StripWanted, Drawn]) -> None:
    ran.say_notes(lambda drawn: drawn.notes)
    if len(ran.work) == 1 and ran.written:
        job, drawn = ran.written[0]
        output.line(f"{job.target}: {drawn.size}. {drawn.says}")
    parts = ran.counted("drawn")
    if parts and ran.is_about_many:
        output.line(", ".join(parts))
