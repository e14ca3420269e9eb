"""Search indexes in memory: compared with naive versions, and refreshed when the library changes."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from keypose.arrays import Floats
from keypose.library.canonical import JOINTS, canonical_body
from keypose.library.descriptors import Description, Windows, build_galleries, clip_distances, describe
from keypose.library.descriptors.description import Singles, posture
from keypose.library.descriptors.gallery_ranking import RANKING_DESCRIPTORS
from keypose.library.search.candidate_source import PoseMatch, select_spaced
from keypose.library.search.memory_index import CachedCounter, IndexCache, MemoryIndex, select_clips
from keypose.library.search.part_gallery import build_part_track
from keypose.library.search.pose_search import PoseIndex, mirror_pose
from keypose.library.search.query import (
    canonical_joints,
    parse_joint_names,
    pose_scales,
    select_swing_parts,
    track_groups,
)
from keypose.library.search.rankers import score_clips, self_distance
from support.library_cases import DEMO
from support.search_cases import StoredItems, mirror_motion

NO_CONNECTION: Any = SimpleNamespace(get_transaction=lambda: None)  # a connection that is never used


def describe_frames(start: int, end: int) -> Description:
    description = describe(DEMO[start:end])
    assert description is not None
    return description


@pytest.fixture(scope="module")
def clips() -> list[Description]:
    return [describe_frames(start, start + length) for start in range(0, 330, 25) for length in (20, 40)]


def naive_ranking(variants: list[Description], clips: list[Description]) -> list[tuple[int, int, float]]:
    """Rank each clip by itself: its distance from each variant, and the nearer one."""
    own_distance = self_distance(variants[0])  # the kernel's own figure has the noise of a root of rounding
    rows = []
    for clip_index, clip in enumerate(clips):
        distances = [
            max(float(clip_distances(variant, build_galleries([clip]))[0]), 0.999 * own_distance)
            for variant in variants
        ]
        rows.append((min(distances), distances.index(min(distances)), clip_index))
    return [
        (place, variant, min(max(nearest / (0.999 * own_distance), 0.0), 1.0))
        for nearest, variant, place in sorted(rows)
    ]


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_ranking_equals_the_naive_one(clips: list[Description], mirrored: bool) -> None:
    other = describe(mirror_motion(DEMO[60:110]))
    variants = [describe_frames(60, 110), *([other] if mirrored and other is not None else [])]
    galleries, own = build_galleries(clips, tuple(clips[0].all)), self_distance(variants[0])
    assert own == pytest.approx(float(clip_distances(variants[0], build_galleries([variants[0]]))[0]), rel=1e-3)
    result, slow = score_clips(variants, own, galleries, None, 99), naive_ranking(variants, clips)
    np.testing.assert_allclose([row.score for row in result], [score for _, _, score in slow], atol=1e-4)
    distinct = [k for k in range(1, len(slow) - 1) if slow[k - 1][2] - 1e-4 > slow[k][2] > slow[k + 1][2] + 1e-4]
    assert len(distinct) > 5
    assert [(result[k].clip_index, result[k].variant) for k in distinct] == [slow[k][:2] for k in distinct]
    some = np.arange(len(clips)) % 3 == 0
    assert [row.clip_index for row in score_clips(variants, own, galleries, some, 99)] == [
        row.clip_index for row in result if row.clip_index % 3 == 0
    ]
    assert (
        len(score_clips(variants, own, galleries, None, 99, n_candidates=4)) == 4
        and score_clips(variants, own, galleries, None, 3) == result[:3]
    )
    assert (
        score_clips(variants, own, galleries, np.zeros(len(clips), bool), 9)
        == []
        == score_clips(variants, own, {}, None, 9)
    )
    assert set(RANKING_DESCRIPTORS) <= set(galleries)


def random_poses(seed: int, n_clips: int = 30) -> list[Windows]:
    generator = np.random.default_rng(seed)
    clips = []
    for _ in range(n_clips):
        n = int(generator.integers(1, 12))
        times = np.sort(generator.choice(np.arange(0.0, 6.0, 0.1), n, replace=False))
        vectors = generator.normal(size=(n, 52)).astype(np.float32)
        clips.append(Windows(vectors, times, times, np.ones(n, np.float32), (0.0, 1.0)))
    return clips


def naive_poses(
    clips: list[Windows], clip_ids: list[int], variants: list[Singles], scales: Floats, allowed: set[int]
) -> list[PoseMatch]:
    poses = []
    for clip_id, clip in zip(clip_ids, clips, strict=True):
        for vector, time_s in zip(clip.vectors, clip.starts_s, strict=True):
            distances = [math.sqrt(float((((vector - variant) * scales) ** 2).sum())) for variant in variants]
            if clip_id in allowed:
                poses.append(PoseMatch(clip_id, float(time_s), min(distances), distances.index(min(distances)), vector))
    return sorted(poses, key=lambda pose: (pose.distance, pose.clip_id, pose.time_s))


@pytest.mark.parametrize("apart_s", [math.inf, 1.0, 0.0])
@pytest.mark.parametrize("limit", [1, 7, 1000])
@pytest.mark.parametrize("some_columns", [False, True])
def test_nearest_poses_equal_the_naive_ones(
    apart_s: float, limit: int, some_columns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keypose.library.search.pose_search.INITIAL_ROWS", 4)
    clips = random_poses(limit)
    ids = [3 * k + 5 for k in range(len(clips))]
    numbers = np.random.default_rng(9)
    variants = [numbers.normal(size=52).astype(np.float32) for _ in range(2)]
    scales = np.where(np.arange(52) % 2, 1.0, 0.0) if some_columns else np.ones(52)
    index = PoseIndex.build(clips)
    assert index is not None
    for allowed in (set(ids), set(ids[::2]), set()):
        flags = np.array([number in allowed for number in ids])
        result = index.nearest(np.array(ids), variants, scales, flags, limit, apart_s)
        slow = select_spaced(naive_poses(clips, ids, variants, scales, allowed), limit, apart_s)
        assert [(pose.clip_id, pose.time_s, pose.variant) for pose in result] == [
            (p.clip_id, p.time_s, p.variant) for p in slow
        ]
        np.testing.assert_allclose([pose.distance for pose in result], [pose.distance for pose in slow], atol=1e-6)


def test_the_same_pose_has_distance_zero() -> None:
    clips = random_poses(1)
    index = PoseIndex.build(clips)
    assert index is not None
    first = index.nearest(np.arange(30), [clips[4].vectors[0]], np.ones(52), None, 1, math.inf)[0]
    assert (first.clip_id, first.distance, first.time_s) == (4, 0.0, clips[4].starts_s[0])
    assert PoseIndex.build([]) is None


def test_a_mirrored_pose_equals_the_pose_of_the_mirrored_body() -> None:
    bodies = [canonical_body(DEMO), canonical_body(mirror_motion(DEMO))]
    vectors = []
    for body in bodies:
        assert body is not None
        body_posture = posture(body)
        vectors.append(np.append(body_posture.positions[200].ravel(), body_posture.heights[200]).astype(np.float32))
    np.testing.assert_allclose(mirror_pose(vectors[0]), vectors[1], atol=1e-5)


# Caches


class IncrementalList:
    """The simplest index."""

    def __init__(self) -> None:
        self.items: tuple[Any, ...] = ()

    def add(self, items: Sequence[Any]) -> None:
        self.items = (*self.items, *items)

    def keep(self, indices: Any) -> None:
        self.items = tuple(self.items[k] for k in indices)

    def snapshot(self) -> tuple[Any, ...]:
        return self.items


def store_poses(*numbers: int) -> StoredItems:
    windows = random_poses(2, 40)
    return StoredItems(poses_by={n: windows[n] for n in numbers}, checksums_by=dict.fromkeys(numbers, "first"), count=1)


def test_only_new_and_changed_items_are_loaded() -> None:
    library = store_poses(1, 2, 3)
    cache = IndexCache(CachedCounter(library), library.poses, IncrementalList)
    assert cache.snapshot(NO_CONNECTION).clip_ids.tolist() == [1, 2, 3] and library.loaded_ids == [1, 2, 3]
    assert cache.snapshot(NO_CONNECTION) is cache.snapshot(NO_CONNECTION)
    library.checksums_by |= {7: "first", 2: "another", 9: "no body"}
    library.poses_by |= {7: random_poses(3)[0]}
    del library.checksums_by[1]
    before = cache.snapshot(NO_CONNECTION)
    assert before.clip_ids.tolist() == [1, 2, 3]  # the counter has not moved
    library.count = 2
    after = cache.snapshot(NO_CONNECTION)
    assert after.clip_ids.tolist() == [2, 3, 7] and library.loaded_ids == [1, 2, 3, 2, 7, 9]
    assert after.items[3] is before.items[3] and before.clip_ids.tolist() == [1, 2, 3]
    assert after.index == tuple(after.items[n] for n in (2, 3, 7)) and after.is_present is None
    library.count = 3
    assert (
        cache.snapshot(NO_CONNECTION).index is after.index and len(library.loaded_ids) == 6
    )  # nothing of it has changed
    library.count = 2
    assert cache.snapshot(NO_CONNECTION).changes == 3  # an older transaction gets the newer snapshot


def test_removed_items_stay_in_the_index_until_there_are_many() -> None:
    library = store_poses(*range(1, 9))
    cache = IndexCache(CachedCounter(library), library.poses, IncrementalList)
    first = cache.snapshot(NO_CONNECTION)
    assert first.is_present is None
    del library.checksums_by[3]
    library.count = 2
    second = cache.snapshot(NO_CONNECTION)
    assert second.is_present is not None and second.clip_ids[second.is_present].tolist() == [1, 2, 4, 5, 6, 7, 8]
    assert second.index is first.index and 3 not in second.items and 3 in first.items
    library.checksums_by[3], library.count = "first", 3  # it returns: nothing is loaded or moved
    back = cache.snapshot(NO_CONNECTION)
    assert back.index is first.index and back.is_present is None and back.items[3] is first.items[3]
    assert library.loaded_ids == list(range(1, 9))
    del library.checksums_by[3]
    library.count = 4
    assert 3 not in cache.snapshot(NO_CONNECTION).items
    library.checksums_by[9], library.poses_by[9], library.count = "first", random_poses(3)[1], 5
    third = cache.snapshot(NO_CONNECTION)
    assert (
        third.clip_ids.tolist() == list(range(1, 10)) and third.is_present is not None and third.is_present.sum() == 8
    )
    assert library.loaded_ids == list(range(1, 10))
    del library.checksums_by[5], library.checksums_by[6]
    library.count = 6
    last = cache.snapshot(NO_CONNECTION)
    assert last.clip_ids.tolist() == [1, 2, 4, 7, 8, 9] and last.is_present is None
    assert last.index == tuple(last.items[n] for n in last.clip_ids.tolist())
    library.checksums_by[3], library.count = "first", 7  # purged: it is loaded again, and inserted by its id
    restored = cache.snapshot(NO_CONNECTION)
    assert restored.clip_ids.tolist() == [1, 2, 3, 4, 7, 8, 9]
    assert restored.index == tuple(restored.items[n] for n in restored.clip_ids.tolist())


@pytest.mark.parametrize("seed", range(6))
def test_incremental_indexes_equal_indexes_built_at_once(clips: list[Description], seed: int) -> None:
    """After any additions, removals and changes, an index answers like a new one."""
    chance = random.Random(seed)
    tracks = [build_part_track(DEMO[start : start + 60]) for start in range(0, 280, 10)]
    poses, library, versions = random_poses(seed, len(clips)), StoredItems(), iter(range(10_000))
    index, removed = MemoryIndex(library), dict[int, str]()
    query = [clips[0]], [tracks[3].span(0.5, 3.2)], [poses[0].vectors[0]]
    for count in range(1, 25):
        for number in chance.sample(range(1, 40), 3):
            if number in library.checksums_by and chance.random() < 0.6:
                removed[number] = library.checksums_by.pop(number)
                continue
            if number in removed and number not in library.checksums_by and chance.random() < 0.5:
                library.checksums_by[number] = removed[number]  # as it was
                continue
            k = chance.randrange(len(clips))
            library.checksums_by[number] = str(next(versions))
            library.descriptions_by[number], library.tracks_by[number] = clips[k], tracks[k]
            library.poses_by[number] = poses[k]
        library.count = count
        results = [_search_all(memory_index, *query) for memory_index in (index, MemoryIndex(library))]
        assert results[0] == results[1]
        assert {number for number, _ in results[0][0]} == library.checksums_by.keys()


def _search_all(index: MemoryIndex, variants: Any, parts: Any, poses: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the results of searches, with clip ids."""
    candidates = index.clip_candidates(NO_CONNECTION, variants, None, 9)
    ranked = score_clips(variants, self_distance(variants[0]), candidates.galleries, candidates.is_allowed, 99)
    part_candidates = index.part_candidates(NO_CONNECTION, parts, None, 9)
    matches = (
        []
        if part_candidates.gallery is None
        else part_candidates.gallery.search(parts[0], is_allowed=part_candidates.is_allowed, limit=99)
    )
    return (
        [(int(candidates.clip_ids[each.clip_index]), each.score) for each in ranked],
        [(int(part_candidates.clip_ids[each.clip]), each.start_s, round(each.distance, 5)) for each in matches],
        [
            (each.clip_id, each.time_s, each.distance)
            for each in index.nearest_poses(NO_CONNECTION, poses, np.ones(52), None, 99)
        ],
    )


def test_concurrent_searches_see_consistent_states(clips: list[Description]) -> None:
    """No thread sees a partial change of another."""
    tracks = [build_part_track(DEMO[start : start + 60]) for start in range(0, 280, 10)]
    library = StoredItems()
    index = MemoryIndex(library)
    problems: list[str] = []
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            parts = index.part_candidates(NO_CONNECTION, [], None, 9)
            wholes = index.clip_candidates(NO_CONNECTION, [], None, 9)
            lengths = (len(parts.clip_ids), 0 if parts.gallery is None else len(parts.gallery.durations_s))
            if len({*lengths}) > 1 or any(g.n_clips != len(wholes.clip_ids) for g in wholes.galleries.values()):
                problems.append(f"{lengths}")
            if parts.gallery is not None:
                parts.gallery.search(tracks[5].span(0.0, 3.0), is_allowed=parts.is_allowed, limit=3)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for count in range(1, 120):
        number = count % 17
        seals = dict(library.checksums_by)
        if seals.pop(number, None) is None:
            seals[number] = str(count)
            library.descriptions_by[number], library.tracks_by[number] = clips[count % 20], tracks[count % 20]
        library.checksums_by = seals
        library.count = count
        index.descriptions(NO_CONNECTION, [number])
    is_over.set()
    for thread in threads:
        thread.join()
    assert problems == []


def test_the_change_counter_is_read_once_per_transaction() -> None:
    library = store_poses(1)
    engine = sa.create_engine("sqlite://")
    once = CachedCounter(library)
    with engine.connect() as connection:
        for count in (1, 5):
            library.count = count
            with connection.begin():
                assert once.changes(connection) == count
                library.count = 77
                assert once.changes(connection) == count
    engine.dispose()
    assert once.changes(NO_CONNECTION) == 77 and once.checksums(NO_CONNECTION) == {1: "first"}


def test_many_threads_load_once() -> None:
    library = store_poses(1, 2, 3)
    slow = library.poses

    def poses(connection: Any, ids: Any) -> dict[int, Windows]:
        time.sleep(0.05)
        return slow(connection, ids)

    cache = IndexCache(CachedCounter(library), poses, IncrementalList)
    snapshots: list[object] = []
    threads = [threading.Thread(target=lambda: snapshots.append(cache.snapshot(NO_CONNECTION))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert library.loaded_ids == [1, 2, 3] and len(set(map(id, snapshots))) == 1


def test_a_failed_load_leaves_the_old_snapshot() -> None:
    library = store_poses(1, 2)
    fails = False

    def poses(connection: Any, ids: Any) -> dict[int, Windows]:
        if fails:
            raise OSError("no disk")
        return library.poses(connection, ids)

    cache = IndexCache(CachedCounter(library), poses, IncrementalList)
    cache.snapshot(NO_CONNECTION)
    library.checksums_by[5], library.poses_by[5], library.count, fails = "x", random_poses(0)[0], 2, True
    with pytest.raises(OSError, match="no disk"):
        cache.snapshot(NO_CONNECTION)
    fails = False
    assert cache.snapshot(NO_CONNECTION).clip_ids.tolist() == [1, 2, 5]


def test_an_empty_library_has_empty_indexes() -> None:
    index = MemoryIndex(StoredItems())
    assert dict(index.clip_candidates(NO_CONNECTION, [], None, 1).galleries) == {}
    assert index.part_candidates(NO_CONNECTION, [], None, 1).gallery is None
    assert index.nearest_poses(NO_CONNECTION, [np.zeros(52, np.float32)], np.ones(52), None, 3) == ()
    assert index.swing_tables(NO_CONNECTION, None)[1] == ()
    assert index.descriptions(NO_CONNECTION, [1]) == {} == index.tracks(NO_CONNECTION, [1])


def test_selected_clips_are_those_of_the_query() -> None:
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        chosen = sa.text("SELECT 4 UNION ALL SELECT 9").columns(sa.column("number", sa.Integer))
        flags = select_clips(connection, chosen, np.array([1, 4, 9, 12]))
        assert flags is not None and flags.tolist() == [False, True, True, False]
        assert select_clips(connection, None, np.array([1])) is None
    engine.dispose()


# Body parts


def test_names_of_body_parts() -> None:
    assert (
        parse_joint_names(None) is None
        and parse_joint_names("arms") == ("arms",)
        and parse_joint_names(["left_elbow", "spine"]) == ("left_elbow", "spine")
    )
    joints = [JOINTS[k] for k in canonical_joints(["left_elbow", "head"])]
    assert joints == ["head", "left_forearm"]
    assert track_groups(["left_hand", "right_knee", "spine"]) == ("trunk", "left_arm", "right_leg")
    assert set(track_groups(["arms"])) == {"left_arm", "right_arm"}
    assert (
        select_swing_parts(["left_arm"]).sum() == 3
        and select_swing_parts(["spine"]).sum() == 2
        and select_swing_parts(["body"]).sum() == 19
    )


def test_pose_scales_select_the_numbers_that_count() -> None:
    assert pose_scales(None).tolist() == [1.0] * 52
    arm = pose_scales(["left_arm"])
    assert arm.sum() == 9 and arm[-1] == 0.0
    assert pose_scales(["feet"])[-1] == 1.0
