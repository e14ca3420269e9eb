"""What search ranks from memory: against slow twins, and renewed when the library has changed."""

from __future__ import annotations

import math
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from keypose.arrays import Floats
from keypose.library.canonical import JOINTS, canonical
from keypose.library.descriptors import Description, Windows, describe, gallery, unlikeness
from keypose.library.descriptors.matching import RANKED_BY
from keypose.library.descriptors.noun import Singles
from keypose.library.descriptors.posture import posture
from keypose.library.searching.body_parts import canonical_joints, named, part_groups, pose_scales, swung_parts
from keypose.library.searching.keeping import Kept, Once
from keypose.library.searching.memory_shelf import MemoryShelf, among
from keypose.library.searching.pose_index import PoseIndex
from keypose.library.searching.posing import mirrored_pose
from keypose.library.searching.ranking import own_unlikeness, ranked
from keypose.library.searching.shelf import PoseFound, spread_out
from library_cases import DEMO
from search_cases import Held, in_a_mirror

NOWHERE: Any = SimpleNamespace(get_transaction=lambda: None)  # a connection that nobody asks


def described(start: int, end: int) -> Description:
    found = describe(DEMO[start:end])
    assert found is not None
    return found


@pytest.fixture(scope="module")
def clips() -> list[Description]:
    return [described(start, start + length) for start in range(0, 330, 25) for length in (20, 40)]


def slow_ranking(ways: list[Description], clips: list[Description]) -> list[tuple[int, int, float]]:
    """Each clip by itself: how unlike it is to each way, and the nearer one."""
    own = unlikeness(ways[0], gallery([ways[0]]))[0]
    rows = []
    for place, clip in enumerate(clips):
        away = [max(float(unlikeness(way, gallery([clip]))[0]), 0.999 * own) for way in ways]
        rows.append((min(away), away.index(min(away)), place))
    return [(place, way, min(max(least / (0.999 * own), 0.0), 1.0)) for least, way, place in sorted(rows)]


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_ranking_is_that_of_the_slow_twin(clips: list[Description], mirrored: bool) -> None:
    other = describe(in_a_mirror(DEMO[60:110]))
    ways = [described(60, 110), *([other] if mirrored and other is not None else [])]
    galleries, own = gallery(clips, tuple(clips[0].all)), own_unlikeness(ways[0])
    assert own == pytest.approx(float(unlikeness(ways[0], gallery([ways[0]]))[0]), rel=1e-3)
    found, slow = ranked(ways, own, galleries, None, 99), slow_ranking(ways, clips)
    np.testing.assert_allclose([row.score for row in found], [score for _, _, score in slow], atol=1e-4)
    distinct = [k for k in range(1, len(slow) - 1) if slow[k - 1][2] - 1e-4 > slow[k][2] > slow[k + 1][2] + 1e-4]
    assert len(distinct) > 5
    assert [(found[k].place, found[k].way) for k in distinct] == [slow[k][:2] for k in distinct]
    some = np.arange(len(clips)) % 3 == 0
    assert [row.place for row in ranked(ways, own, galleries, some, 99)] == [
        row.place for row in found if row.place % 3 == 0
    ]
    assert (
        len(ranked(ways, own, galleries, None, 99, keep=4)) == 4 and ranked(ways, own, galleries, None, 3) == found[:3]
    )
    assert ranked(ways, own, galleries, np.zeros(len(clips), bool), 9) == [] == ranked(ways, own, {}, None, 9)
    assert set(RANKED_BY) <= set(galleries)


def drawn_poses(seed: int, n_clips: int = 30) -> list[Windows]:
    random = np.random.default_rng(seed)
    made = []
    for _ in range(n_clips):
        n = int(random.integers(1, 12))
        times = np.sort(random.choice(np.arange(0.0, 6.0, 0.1), n, replace=False))
        vectors = random.normal(size=(n, 52)).astype(np.float32)
        made.append(Windows(vectors, times, times, np.ones(n, np.float32), (0.0, 1.0)))
    return made


def slow_poses(
    clips: list[Windows], ids: list[int], ways: list[Singles], scales: Floats, allowed: set[int]
) -> list[PoseFound]:
    found = []
    for number, clip in zip(ids, clips, strict=True):
        for vector, time_s in zip(clip.vectors, clip.starts_s, strict=True):
            apart = [math.sqrt(float((((vector - way) * scales) ** 2).sum())) for way in ways]
            if number in allowed:
                found.append(PoseFound(number, float(time_s), min(apart), apart.index(min(apart)), vector))
    return sorted(found, key=lambda pose: (pose.distance, pose.clip, pose.time_s))


@pytest.mark.parametrize("apart_s", [math.inf, 1.0, 0.0])
@pytest.mark.parametrize("limit", [1, 7, 1000])
@pytest.mark.parametrize("some_columns", [False, True])
def test_nearest_poses_are_those_of_the_slow_twin(
    apart_s: float, limit: int, some_columns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keypose.library.searching.pose_index.FIRST_LOOK", 4)
    clips = drawn_poses(limit)
    ids = [3 * k + 5 for k in range(len(clips))]
    random = np.random.default_rng(9)
    ways = [random.normal(size=52).astype(np.float32) for _ in range(2)]
    scales = np.where(np.arange(52) % 2, 1.0, 0.0) if some_columns else np.ones(52)
    index = PoseIndex.of(clips)
    assert index is not None
    for allowed in (set(ids), set(ids[::2]), set()):
        flags = np.array([number in allowed for number in ids])
        found = index.nearest(np.array(ids), ways, scales, flags, limit, apart_s)
        slow = spread_out(slow_poses(clips, ids, ways, scales, allowed), limit, apart_s)
        assert [(pose.clip, pose.time_s, pose.way) for pose in found] == [(p.clip, p.time_s, p.way) for p in slow]
        np.testing.assert_allclose([pose.distance for pose in found], [pose.distance for pose in slow], atol=1e-6)


def test_the_same_pose_is_at_no_distance() -> None:
    clips = drawn_poses(1)
    index = PoseIndex.of(clips)
    assert index is not None
    first = index.nearest(np.arange(30), [clips[4].vectors[0]], np.ones(52), None, 1, math.inf)[0]
    assert (first.clip, first.distance, first.time_s) == (4, 0.0, clips[4].starts_s[0])
    assert PoseIndex.of([]) is None


def test_a_pose_in_the_mirror_is_that_of_the_mirrored_body() -> None:
    bodies = [canonical(DEMO), canonical(in_a_mirror(DEMO))]
    vectors = []
    for body in bodies:
        assert body is not None
        seen = posture(body)
        vectors.append(np.append(seen.positions[200].ravel(), seen.heights[200]).astype(np.float32))
    np.testing.assert_allclose(mirrored_pose(vectors[0]), vectors[1], atol=1e-5)


# What is held in memory


def held(*numbers: int) -> Held:
    windows = drawn_poses(2, 40)
    return Held(poses_by={n: windows[n] for n in numbers}, seals_by=dict.fromkeys(numbers, "first"), count=1)


def test_only_what_is_new_is_read_again() -> None:
    library = held(1, 2, 3)
    kept = Kept(library, library.poses, list)
    assert kept.at(NOWHERE).ids.tolist() == [1, 2, 3] and library.read == [1, 2, 3]
    assert kept.at(NOWHERE) is kept.at(NOWHERE)
    library.seals_by |= {7: "first", 2: "another", 9: "no body"}
    library.poses_by |= {7: drawn_poses(3)[0]}
    del library.seals_by[1]
    before = kept.at(NOWHERE)
    assert before.ids.tolist() == [1, 2, 3]  # the counter has not moved
    library.count = 2
    after = kept.at(NOWHERE)
    assert after.ids.tolist() == [2, 3, 7] and library.read == [1, 2, 3, 2, 7, 9]
    assert after.items[3] is before.items[3] and before.ids.tolist() == [1, 2, 3]
    assert after.index == [after.items[n] for n in (2, 3, 7)]
    library.count = 3
    assert kept.at(NOWHERE).index is after.index and len(library.read) == 6  # nothing of it has changed
    library.count = 2
    assert kept.at(NOWHERE).changes == 3  # who began to look earlier takes the newer copy


def test_a_transaction_is_asked_once_how_much_has_changed() -> None:
    library = held(1)
    engine = sa.create_engine("sqlite://")
    once = Once(library)
    with engine.connect() as connection:
        for count in (1, 5):
            library.count = count
            with connection.begin():
                assert once.changes(connection) == count
                library.count = 77
                assert once.changes(connection) == count
    engine.dispose()
    assert once.changes(NOWHERE) == 77 and once.seals(NOWHERE) == {1: "first"}


def test_many_threads_read_once() -> None:
    library = held(1, 2, 3)
    slow = library.poses

    def poses(connection: Any, ids: Any) -> dict[int, Windows]:
        time.sleep(0.05)
        return slow(connection, ids)

    kept = Kept(library, poses, list)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(kept.at(NOWHERE))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert library.read == [1, 2, 3] and len(set(map(id, found))) == 1


def test_what_cannot_be_read_leaves_the_old_copy() -> None:
    library = held(1, 2)
    fails = False

    def poses(connection: Any, ids: Any) -> dict[int, Windows]:
        if fails:
            raise OSError("no disk")
        return library.poses(connection, ids)

    kept = Kept(library, poses, list)
    kept.at(NOWHERE)
    library.seals_by[5], library.poses_by[5], library.count, fails = "x", drawn_poses(0)[0], 2, True
    with pytest.raises(OSError, match="no disk"):
        kept.at(NOWHERE)
    fails = False
    assert kept.at(NOWHERE).ids.tolist() == [1, 2, 5]


def test_an_empty_library_has_empty_shelves() -> None:
    shelf = MemoryShelf(Held())
    assert dict(shelf.whole(NOWHERE, [], None, 1).galleries) == {}
    assert shelf.parts(NOWHERE, [], None, 1).gallery is None
    assert shelf.poses(NOWHERE, [np.zeros(52, np.float32)], np.ones(52), None, 3) == ()
    assert shelf.sheets(NOWHERE, None)[1] == ()
    assert shelf.descriptions(NOWHERE, [1]) == {} == shelf.tracks(NOWHERE, [1])


def test_chosen_clips_are_those_of_the_question() -> None:
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        chosen = sa.text("SELECT 4 UNION ALL SELECT 9").columns(sa.column("number", sa.Integer))
        flags = among(connection, chosen, np.array([1, 4, 9, 12]))
        assert flags is not None and flags.tolist() == [False, True, True, False]
        assert among(connection, None, np.array([1])) is None
    engine.dispose()


# Parts of the body


def test_names_of_body_parts() -> None:
    assert (
        named(None) is None and named("arms") == ("arms",) and named(["left_elbow", "spine"]) == ("left_elbow", "spine")
    )
    joints = [JOINTS[k] for k in canonical_joints(["left_elbow", "head"])]
    assert joints == ["head", "left_forearm"]
    assert part_groups(["left_hand", "right_knee", "spine"]) == ("trunk", "left_arm", "right_leg")
    assert set(part_groups(["arms"])) == {"left_arm", "right_arm"}
    assert (
        swung_parts(["left_arm"]).sum() == 3 and swung_parts(["spine"]).sum() == 2 and swung_parts(["body"]).sum() == 19
    )


def test_numbers_of_a_pose_that_count() -> None:
    assert pose_scales(None).tolist() == [1.0] * 52
    arm = pose_scales(["left_arm"])
    assert arm.sum() == 9 and arm[-1] == 0.0
    assert pose_scales(["feet"])[-1] == 1.0
