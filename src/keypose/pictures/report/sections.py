"""The sections of one take: pictures with their words, tables, and the settings that make it again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from keypose.arrays import Ints
from keypose.model import Selection
from keypose.pictures.error_curve import plot_errors
from keypose.pictures.figure import body_of
from keypose.pictures.figure.paint import sides_told
from keypose.pictures.figure.solids import solids_of
from keypose.pictures.heat import heat_map
from keypose.pictures.page import Section, code, facts, figure, notes
from keypose.pictures.report import tables
from keypose.pictures.report.clip import PlayedClip, played_clip
from keypose.pictures.report.player import player
from keypose.pictures.report.settings import command_line, python_lines, report_line
from keypose.pictures.report.take import Take
from keypose.pictures.strip import strip
from keypose.pictures.timeline import timeline
from keypose.verbs.comparing.clip import digest_of
from keypose.verbs.selecting import select

MOST_POSES, PER_ROW = 36, 12  # of a strip: more are too small to see
STRIP_PX, ROW_PX = 860.0, 230.0  # at most, before it is shown
LARGER = 1.28  # so that it is as wide as the page, and its letters can still be read on paper


@dataclass(frozen=True)
class ReportedTake:
    """A take as a part of a page: its section, and the row that a page of several has for it."""

    section: Section
    n_frames: int
    fps: float
    n_keys: int
    mean_mm: float | None
    max_mm: float | None
    worst_joint: str | None


def reported(take: Take, id: str) -> ReportedTake:
    """The section of a take; all ids in it begin with ``id``."""
    score = take.score
    clip = played_clip(take.motion, take.keyed, take.rebuilt, take.errors_mm)
    parts = (
        Section(f"{id}-strip", "Key poses", _strip(take, id)),
        Section(f"{id}-player", "Original and unbaked", _player(take, clip, id)),
        Section(f"{id}-score", "How close it is", tables.score_table(take)),
        *_measured(take, id),
        Section(f"{id}-swings", "Swings", _swings(take, id)),
        Section(f"{id}-keys", "Keys", tables.keys_table(take)),
        Section(f"{id}-settings", "Make it again", _settings(take)),
    )
    return ReportedTake(
        Section(id, take.motion.name or "unnamed", _facts(take), parts),
        take.motion.n_frames,
        take.motion.fps,
        take.keyed.n_keys,
        None if score is None else score.mean_mm,
        None if score is None else score.max_mm,
        None if score is None else score.worst_joint,
    )


def _facts(take: Take) -> str:
    m, keyed = take.motion, take.keyed
    removed = 100 * (1 - keyed.n_keys / m.n_frames)
    height = f"{m.height:.4g} units" + (f" = {m.height * m.metres_per_unit:.3g} m" if m.metres_per_unit else "")
    pairs = [
        ("frames", f"{m.n_frames:,} at {m.fps:g} fps, {m.duration_s:.2f} s"),
        ("joints", f"{m.n_joints:,}"),
        ("height", height),
        ("keys", f"{keyed.n_keys:,}: {removed:.1f} % of the frames removed"),
    ]
    if take.score is not None:
        pairs.append(("error", f"{take.score.mean_mm:.2f} mm on average, {take.score.max_mm:.1f} mm at most"))
    if m.first_frame:
        pairs.append(("first frame", f"number {m.first_frame:,} in its source"))
    return facts(pairs) + notes(m.notes)


def _strip(take: Take, id: str) -> str:
    shown = _shown(take)
    rows = math.ceil(len(shown) / PER_ROW)
    picture = strip(take.motion, shown, theme="page", per_row=math.ceil(len(shown) / rows), width_px=STRIP_PX,
                    height_px=rows * ROW_PX)  # fmt: skip
    few = len(shown) < take.keyed.n_keys
    several = f"{len(shown)} of the {take.keyed.n_keys:,} keys, those whose poses say most." if few else ""
    words = (several, "Below each pose its frame and time.", sides_told(solids_of(body_of(take.motion))))
    return figure(picture, f"{id}-strip-picture", " ".join(filter(None, words)), larger=LARGER)


def _shown(take: Take) -> Selection:
    """The keys, or those of them that say most: what is lost by leaving out the others is least."""
    keys: Ints = take.keyed.keys
    if len(keys) > MOST_POSES:
        m = take.motion
        few = replace(m, translations=m.translations[keys], rotations=m.rotations[keys])
        keys = keys[select(few, "salient", keys=MOST_POSES).frames]
    return Selection(keys, take.motion.n_frames, take.settings.method)


def _player(take: Take, clip: PlayedClip, id: str) -> str:
    said = f"{clip.n_stored:,} of {take.motion.n_frames:,} frames are in this page, keys among them; " * (
        clip.n_stored < take.motion.n_frames
    )
    words = f"{said}points are rounded to {clip.rounding_mm:.2g} mm on a figure of 1.7 m."
    drawn = f" {clip.left_out:,} small parts or markers are not drawn." if clip.left_out else ""
    about = f'<p class="quiet">{words[0].upper()}{words[1:]}{drawn}</p>\n'
    return player(clip, take.motion, take.keyed, f"{id}-play") + about


def _measured(take: Take, id: str) -> list[Section]:
    """The error curve and the error map, where there are any."""
    found = []
    if take.ladder is not None:
        unit = "mm" if take.in_mm else "units"
        chosen = take.keyed.n_keys if take.keyed.n_keys in take.ladder.costs else None
        picture = plot_errors(take.ladder, chosen=chosen, unit=unit, label=take.error_name, theme="page", title="")
        words = f"The {take.error_name} that the best keys of each number leave, before their slopes are polished."
        body = figure(picture, f"{id}-error-picture", words, tables.error_table(take.ladder, take.error_name, unit))
        found.append(Section(f"{id}-error", "Error and number of keys", body))
    if take.errors_mm is not None:
        m = take.motion
        picture = heat_map(take.errors_mm, m.skeleton, fps=m.fps, keys=take.keyed, theme="page")
        words = "How far each joint is off, frame by frame; upright lines are keys."
        body = figure(picture, f"{id}-map-picture", words, tables.joints_table(take))
        found.append(Section(f"{id}-map", "Where it is off", body))
    return found


def _swings(take: Take, id: str) -> str:
    picture = timeline(take.swings, keys=take.keyed, theme="page", title="")
    words = "When each joint of the original turns about one axis, and how far; upright lines are keys."
    return figure(picture, f"{id}-swings-picture", words, tables.swings_table(take))


def _settings(take: Take) -> str:
    from keypose import __version__

    source = take.source
    pairs = [("Keypose", __version__), ("content hash", f"sha256 {digest_of(take.motion)}")]
    if source is not None:
        pairs.append(("file", f"{source.path.name}, sha256 {source.sha256}"))
    lines = (("The motion, on the command line:", command_line(take.settings, source, take.motion.name)),
             ("This page:", report_line(take.settings, source, take.motion.name)))  # fmt: skip
    commands = "".join(f"<p>{what}</p>\n{code(line)}" for what, line in lines if line is not None)
    python = code(python_lines(take.settings, source, take.motion))
    return f"{commands}<p>The motion, in Python:</p>\n{python}{facts(pairs)}"
