"""What workers do with one clip: take what was told, call the workbench, answer."""

from __future__ import annotations

import json
import math
import time
from typing import Any

from keypose.pictures.strip import strip
from keypose.server.schema.clips import ClipFacts, ClipRow
from keypose.server.schema.keys import Cliff, ComparedSaid, LadderSaid, MethodSaid, ScoreSaid, WithinSaid
from keypose.server.work.desk import Answer, Desk, Task
from keypose.server.work.tasks_benches import bench_of
from keypose.server.work.tasks_headers import AGAIN, disposition, tag
from keypose.workbench import (
    Bench,
    Recipe,
    Shown,
    Straying,
    Wanted,
    compare,
    draft_of,
    edited,
    facts_of,
    packet,
    shown,
    step_of,
    take_away,
)
from keypose.workbench.facts import bars_of
from keypose.workbench.packet import MEDIA_TYPE
from keypose.workbench.rungs import Rungs

PNG_SCALE = 2.0


def facts(desk: Desk, told: dict[str, Any]) -> Answer:
    """All about a clip."""
    clip, bench = desk.clip(told["clip"]), bench_of(desk, told["clip"])
    known = bench.lately.of(("facts",), lambda: facts_of(bench))
    said = ClipFacts.model_validate(
        {
            **vars(clip),
            "key_frames": desk.library.key_frames(clip.hash),
            "has_body": known.has_body,
            "joints": [vars(joint) for joint in known.joints],
            "groups": dict(known.groups),
            "contacts": dict(known.contacts),
            "swings": [vars(bar) for bar in known.swings],
            "notes": bench.motion.notes,
        }
    )
    return Answer.of(said)


def frames(desk: Desk, told: dict[str, Any]) -> Answer:
    """Where all joints are."""
    bench = bench_of(desk, told["clip"])
    skeleton = bench.motion.skeleton
    seen = shown(bench.motion, bench.space, step_of(bench.motion, told.get("fps"), told.get("most_frames")), bench.face)
    header = {
        **seen.header(),
        "names": list(skeleton.names),
        "parents": skeleton.parents.tolist(),
        "end_joints": skeleton.end_joints.tolist(),
        "head": None if bench.face is None else bench.face.head,
    }
    return Answer(packet(header, seen.arrays()), MEDIA_TYPE, {"ETag": tag("frames", told), **AGAIN})


def pose(desk: Desk, told: dict[str, Any]) -> Answer:
    """What a search by a pose compares."""
    numbers = desk.library.pose_numbers(desk.motion(told["clip"]), told["frame"])
    return Answer(json.dumps(numbers).encode())


def strip_of(desk: Desk, told: dict[str, Any]) -> Answer:
    """Poses of a clip, or of an edit of it, as a picture."""
    motion, frames = desk.motion(told["clip"]), told["frames"]
    if told.get("draft") is not None:
        after = edited(bench_of(desk, told["clip"]), draft_of(told["draft"]))
        own = None if after.keyed is None else after.keyed.keys.tolist()
        motion, frames = after.motion, own if frames is None else frames
    look = {name: told[name] for name in ("theme", "layout", "height_px") if told.get(name) is not None}
    picture = strip(motion, frames, **look)
    headers = {"ETag": tag("strip", told, motion.name), **AGAIN}
    if told["kind"] == "png":
        return Answer(picture.png(PNG_SCALE), "image/png", headers)
    return Answer(picture.svg.encode(), "image/svg+xml", headers)


def ladder(desk: Desk, told: dict[str, Any]) -> Answer:
    """Keys for every number of keys."""
    began = time.perf_counter()
    rungs = bench_of(desk, told["clip"]).rungs(Recipe.of(told["recipe"]))
    return Answer.of(_ladder_said(rungs, 1000.0 * (time.perf_counter() - began)))


def _ladder_said(rungs: Rungs, took_ms: float) -> LadderSaid:
    found = rungs.ladder
    counts = found.counts.tolist()
    ends = found.counts.cumsum().tolist()
    keys = found.frames.tolist()
    return LadderSaid(
        method=found.method,
        options=dict(rungs.options),
        counts=tuple(counts),
        costs=tuple(found.cost_values.tolist()),
        unit=rungs.unit,
        order=tuple(keys) if found.is_nested else None,
        selections=None
        if found.is_nested
        else tuple(tuple(keys[end - count : end]) for count, end in zip(counts, ends, strict=True)),
        natural=found.natural,
        auto=rungs.auto,
        cliffs=tuple(Cliff(keys=cliff.keys, strength=cliff.strength) for cliff in found.cliffs()),
        took_ms=round(took_ms, 3),
    )


def keys_within(desk: Desk, told: dict[str, Any]) -> Answer:
    """Fewest keys within a tolerance."""
    bench, recipe = bench_of(desk, told["clip"]), Recipe.of(told["recipe"])
    frames = bench.within(recipe, told["tolerance_mm"], told["interpolation"])
    return Answer.of(WithinSaid(keys=len(frames), frames=frames))


def unbaked(desk: Desk, told: dict[str, Any]) -> Answer:
    """Curves through keys, and how far they stray."""
    bench = bench_of(desk, told["clip"])
    made = bench.unbaked(
        told["frames"], told["interpolation"], polish=told["polish"], residual=told["residual"]
    )  # fmt: skip
    header = {"keys": made.keyed.keys.tolist(), "extremes": _extremes(made.keyed)}
    return _moved(bench, shown(made.motion, bench.space, told["step"], bench.face), made.straying, header)


def edited_by(desk: Desk, told: dict[str, Any]) -> Answer:
    """A clip after an edit."""
    bench = bench_of(desk, told["clip"])
    after = edited(bench, draft_of(told["draft"]))
    header = {
        "keys": None if after.keyed is None else after.keyed.keys.tolist(),
        "extremes": None if after.keyed is None else _extremes(after.keyed),
        "swings": None if after.swings is None else [vars(bar) for bar in bars_of(after.swings)],
        "history": list(after.history),
        "changed": None if after.changed is None else list(after.changed),
        "notes": list(after.notes),
        "missed_mm": after.missed_mm,
    }
    return _moved(bench, shown(after.motion, bench.space, told["step"], bench.face), after.straying, header)


def compared(desk: Desk, told: dict[str, Any]) -> Answer:
    """Methods side by side: as many keys from each, and how far curves through them stray."""
    clip, bench = desk.clip(told["clip"]), bench_of(desk, told["clip"])
    keys = told["keys"] if told["keys"] is not None else bench.rungs(Recipe()).auto
    found = []
    for row in compare(bench, told["methods"], keys):
        off = row.unbaked.straying
        score = None if off is None else ScoreSaid.model_validate(_numbers(off))
        frames = tuple(row.frames)
        found.append(MethodSaid(method=row.method, keys=len(frames), frames=frames, score=score))
    return Answer.of(ComparedSaid(clip=ClipRow.model_validate(clip), keys=keys, methods=tuple(found)))


def export(desk: Desk, told: dict[str, Any]) -> Answer:
    """A clip as a file."""
    bench = bench_of(desk, told["clip"])
    wanted = {name: value for name, value in told.items() if name != "clip" and value is not None}
    if "draft" in wanted:
        wanted["draft"] = draft_of(wanted["draft"])
    taken = take_away(bench, Wanted(**wanted))
    return Answer(taken.data, taken.media_type, {"Content-Disposition": disposition(taken.name)})


def _moved(bench: Bench, seen: Shown, off: Straying | None, header: dict[str, Any]) -> Answer:
    told = None if off is None else _numbers(off)
    arrays = {**seen.arrays(), **({} if off is None else off.arrays())}
    return Answer(packet({**seen.header(), **header, "score": told}, arrays), MEDIA_TYPE)


def _numbers(off: Straying) -> dict[str, Any]:
    """A score in finite numbers."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in off.header().items()
    }


def _extremes(keyed: Any) -> list[int]:
    found: list[int] = keyed.keys[keyed.extremes].tolist()
    return found


TASKS: dict[str, Task] = {
    "facts": facts,
    "frames": frames,
    "pose": pose,
    "strip": strip_of,
    "ladder": ladder,
    "within": keys_within,
    "unbaked": unbaked,
    "edited": edited_by,
    "compared": compared,
    "export": export,
}
