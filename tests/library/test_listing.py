"""Lists of clips: order, filters, counts and facets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.errors import FormatError, OptionError
from keypose.library.analysis import FACET_ACTIONS, FACET_BODY_PARTS
from keypose.library.extra import sa
from keypose.library.library import Library
from keypose.library.search.swing_overlap import BODY_PARTS, SwingTable
from keypose.library.tables import actions, body_part_facets, tags
from support.clip_rows import insert_clip
from support.errors import raises
from support.search_cases import CLIP_FRAMES, demo_clip, marker_motion

OF_LIMBS = {
    "head": {"neck", "head"},
    "torso": {"hips", "spine", "chest"},
    **{
        f"{side}_arm": {f"{side}_{part}" for part in ("collar", "upper_arm", "forearm", "hand")}
        for side in ("left", "right")
    },
    **{f"{side}_leg": {f"{side}_{part}" for part in ("thigh", "shin", "foot")} for side in ("left", "right")},
}
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"words": "k"},
    {"tags": ("demo",)},
    {"min_duration_s": 2.0},
    {"max_duration_s": 2.5, "min_duration_s": 1.0},
    {"body_part": "right_leg"},
    {"body_part": "left_leg", "tags": ("demo",)},
    {"action": "step"},
    {"action": "kick", "body_part": "right_leg", "tags": ("demo",)},
    {"words": "nothing"},
)


@pytest.fixture(scope="module")
def clips() -> dict[str, Any]:
    return {name: demo_clip(name) for name in CLIP_FRAMES} | {"markers": marker_motion()}


def fill_library(library: Library, clips: dict[str, Any]) -> Library:
    for name, motion in clips.items():
        library.add(motion, tags=("demo", name) if name in CLIP_FRAMES else ("points",))
    return library


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def library(
    request: pytest.FixtureRequest, clips: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Library]:
    """A library in each kind of database, for tests that do not change it."""
    folder = tmp_path_factory.mktemp("listing")
    path = str(folder / "clips.db")
    where = path if request.param == "sqlite" else request.getfixturevalue("postgres").empty("listing")
    with Library(where, blobs=folder / "clips.db.blobs") as new_library:
        yield fill_library(new_library, clips)


@pytest.fixture
def own_library(open_library: Callable[[], Library], clips: dict[str, Any]) -> Library:
    """A library of one test."""
    return fill_library(open_library(), clips)


def test_sorts(library: Library) -> None:
    durations = {clip.name: clip.duration_s for clip in library}
    added = [*CLIP_FRAMES, "markers"]

    def names(**options: Any) -> list[str]:
        return [clip.name for clip in library.clips(**options)]

    assert names() == names(sort="name") == sorted(added)
    assert names(sort="newest") == added[::-1]
    assert names(sort="longest") == sorted(added, key=lambda name: (-durations[name], name))
    assert names(sort="shortest") == sorted(added, key=lambda name: (durations[name], name))
    assert names(sort="newest", limit=2, skip=1) == added[::-1][1:3]
    assert names(sort="longest", tags=("demo",), limit=1) == ["walk"]
    with raises(OptionError, option="sort", value="size", expected="one of name, newest, longest, shortest"):
        library.clips(sort="size")


def by_limb(sheet: SwingTable) -> set[str]:
    """Return the limbs that rotate by 75 degrees in one swing, the head by 30."""
    angles = {
        (BODY_PARTS[part], float(np.degrees(angle))) for part, angle in zip(sheet.body_parts, sheet.angles, strict=True)
    }
    return {
        limb
        for part, degrees in angles
        for limb, words in OF_LIMBS.items()
        if part in words and degrees >= (30 if limb == "head" else 75)
    }


@pytest.mark.parametrize("filters", FILTERS)
def test_counts_and_facets_are_those_of_the_list(library: Library, filters: dict[str, Any]) -> None:
    clips_listed = library.clips(**filters)
    assert library.count(**filters) == len(clips_listed)
    facets = library.facets(**filters)
    by_hand: dict[str, int] = {}
    for clip in clips_listed:
        by_hand |= {tag: by_hand.get(tag, 0) + 1 for tag in clip.tags}
    assert facets.tags == tuple(sorted(by_hand.items(), key=lambda pair: (-pair[1], pair[0])))
    if not filters:
        assert facets.tags == library.tags() == library.stats().tags
    assert [(min_s, max_s) for min_s, max_s, _ in facets.durations] == [
        (0, 2), (2, 5), (5, 10), (10, 30), (30, 60), (60, None),
    ]  # fmt: skip
    for min_s, max_s, n in facets.durations:
        assert n == sum(
            clip.duration_s >= min_s and (max_s is None or clip.duration_s < max_s) for clip in clips_listed
        )
    swung = [by_limb(library.swings(clip.hash)) for clip in clips_listed]
    assert facets.body_parts == tuple(
        (limb, n) for limb in FACET_BODY_PARTS if (n := sum(limb in each for each in swung))
    )
    done = [library.actions(clip.hash) for clip in clips_listed]
    n_clips = {kind: n for kind in FACET_ACTIONS if (n := sum(kind in each for each in done))}
    assert facets.actions == tuple(sorted(n_clips.items(), key=lambda pair: -pair[1]))
    if "action" in filters:
        assert clips_listed and all(filters["action"] in each for each in done)
    if "body_part" in filters:
        assert clips_listed and all(filters["body_part"] in each for each in swung)


def test_lists_and_searches_take_the_same_filters(library: Library, clips: dict[str, Any]) -> None:
    rig = library.clip("walk").skeleton
    assert {clip.name for clip in library.clips(skeleton=rig)} == set(CLIP_FRAMES) and library.count(skeleton=rig) == 5
    assert library.clips(skeleton="none") == () == library.search("walk", skeleton="none")
    assert {hit.clip.skeleton for hit in library.search("walk", skeleton=rig)} == {rig}
    for found in (
        library.search(clips["kick"], action="jump"),
        library.search_part(clips["jump"], 0, 30, action="jump"),
        library.search_pose(clips["jump"], 3, action="jump"),
    ):
        assert [hit.name for hit in found] == ["jump"]
    assert library.search("walk", action="sit") == ()
    assert library.search_part("walk", 0, 30, skeleton="none") == () == library.search_pose("walk", 3, skeleton="none")
    for wrong, option in (
        ({"min_duration_s": 3.0, "max_duration_s": 2.0}, "min_duration_s"),
        ({"min_duration_s": -1.0}, "min_duration_s"),
        ({"skeleton": 3}, "skeleton"),
        ({"words": "..."}, "words"),
        ({"tags": "demo"}, "tags"),
        ({"action": "swing"}, "action"),
    ):
        for method in (library.clips, library.count, library.facets, lambda **each: library.search("walk", **each)):
            with raises(OptionError, option=option):
                method(**wrong)
    with raises(OptionError, option="body_part", value="elbow"):
        library.count(body_part="elbow")


def test_body_part_facets_follow_their_clip(own_library: Library) -> None:
    def rows() -> int:
        with own_library._store.database.begin_read() as connection:
            return int(connection.scalar(sa.select(sa.func.count()).select_from(body_part_facets)) or 0)

    before = rows()
    own_library.remove("kick")
    assert 0 < rows() < before and own_library.verify() == ()
    with own_library._store.database.begin_write() as connection:
        connection.execute(sa.delete(body_part_facets))
    assert {fault.kind for fault in own_library.verify()} == {"analysis"} and own_library.facets().body_parts == ()
    assert own_library.rebuild() == () and own_library.verify() == () and own_library.facets().body_parts
    with own_library._store.database.begin_write() as connection:
        connection.execute(sa.delete(body_part_facets).where(body_part_facets.c.body_part == "left_leg"))
    assert "not found by the parts of the body that swing" in own_library.verify()[0].message


def test_actions_are_those_of_the_motion(library: Library, clips: dict[str, Any]) -> None:
    kinds = {name: library.actions(name) for name in clips}
    assert kinds["markers"] == {}
    assert (
        kinds["walk"]["step"] >= 4 and kinds["turn"]["turn left"] == 1 == kinds["jump"]["jump"] == kinds["kick"]["kick"]
    )
    for name, motion in clips.items():
        found = kp.swings(motion).actions(motion).kinds
        assert kinds[name] == {kind: found[kind] for kind in FACET_ACTIONS if kind in found}
    assert [clip.name for clip in library.clips(action="kick")] == ["kick"]


def test_actions_follow_their_clip(own_library: Library) -> None:
    own_library.remove("kick")
    assert own_library.count(action="kick") == 0 < own_library.count(action="jump") and own_library.verify() == ()
    with own_library._store.database.begin_write() as connection:
        connection.execute(sa.delete(actions).where(actions.c.kind == "jump"))
    assert "changed by accident" in own_library.verify()[0].message
    assert own_library.rebuild() == () and own_library.verify() == () and own_library.count(action="jump") == 1
    with own_library._store.database.begin_write() as connection:
        connection.execute(sa.update(actions).where(actions.c.kind == "jump").values(kind="dance"))
    with raises(FormatError, code="needs_rebuild"):
        own_library.actions("jump")


@pytest.mark.data
def test_actions_of_captures_are_found(open_library: Callable[[], Library], data_dir: Path) -> None:
    """The swings of a library are those at 30 fps, so that a few actions differ from those of all frames."""
    library = open_library()
    for path in sorted((data_dir / "cmu120").glob("*.bvh")):
        library.add(path)
    kinds = {clip.name: set(library.actions(clip.hash)) for clip in library}
    shared = total = 0
    for name, of_library in kinds.items():
        motion = library.get(name)
        of_motion = set(kp.swings(motion).actions(motion).kinds) - {"swing"}
        shared, total = shared + len(of_library & of_motion), total + len(of_library | of_motion)
    assert shared >= 0.95 * total, (shared, total)
    assert {"135_07_kicking", "86_01_mixed-jumps-kicks-punches"} <= {c.name for c in library.clips(action="kick")}
    assert "07_05_walk" not in {clip.name for clip in library.clips(action="kick")}
    assert library.count(action="step") >= len(kinds) // 2


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Library]:
    """2,500 clips with tags and facets of body parts and actions only."""
    dice = np.random.default_rng(4)
    with Library(tmp_path / "large.db") as library:
        with library._store.database.begin_write() as connection:
            for number in range(1, 2501):
                insert_clip(connection, number, f"take {number}")
            tagged = [
                {"clip_id": n, "tag": f"tag{k}"} for n in range(1, 2501) for k in dice.choice(40, 4, replace=False)
            ]
            connection.execute(sa.insert(tags), tagged)
            swung = [
                {"clip_id": n, "body_part": limb}
                for n in range(1, 2501)
                for limb in FACET_BODY_PARTS
                if dice.random() < 0.9
            ]
            connection.execute(sa.insert(body_part_facets), swung)
            acted = [
                {"clip_id": n, "kind": kind, "count": 2}
                for n in range(1, 2501)
                for kind in FACET_ACTIONS
                if dice.random() < 0.3
            ]
            connection.execute(sa.insert(actions), acted)
        yield library


def test_facets_of_thousands_of_clips_are_fast(large: Library) -> None:
    large.facets()
    took = []
    for _ in range(9):
        start = time.process_time()  # not the time that other processes take
        facets = large.facets()
        took.append(time.process_time() - start)
    assert (
        sum(n for *_, n in facets.durations) == 2500
        and len(facets.tags) == 40
        and len(facets.body_parts) == len(FACET_BODY_PARTS)
        and len(facets.actions) == len(FACET_ACTIONS)
    )
    assert min(took) < 0.03, took
