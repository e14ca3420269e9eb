"""What search ranks from memory: against slow twins, and renewed when the library has changed."""

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
from keypose.library.canonical import JOINTS, canonical
from keypose.library.descriptors import Description, Windows, describe, gallery, unlikeness
from keypose.library.descriptors.matching import RANKED_BY
from keypose.library.descriptors.noun import Singles
from keypose.library.descriptors.posture import posture
from keypose.library.parts import describe_parts
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
    own = own_unlikeness(ways[0])  # the kernel's own figure has the noise of a root of rounding
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
    numbers = np.random.default_rng(seed)
    made = []
    for _ in range(n_clips):
        n = int(numbers.integers(1, 12))
        times = np.sort(numbers.choice(np.arange(0.0, 6.0, 0.1), n, replace=False))
        vectors = numbers.normal(size=(n, 52)).astype(np.float32)
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
    numbers = np.random.default_rng(9)
    ways = [numbers.normal(size=52).astype(np.float32) for _ in range(2)]
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


class GrowingList:
    """The plainest index."""

    def __init__(self) -> None:
        self.items: tuple[Any, ...] = ()

    def add(self, items: Sequence[Any]) -> None:
        self.items = (*self.items, *items)

    def keep(self, places: Any) -> None:
        self.items = tuple(self.items[k] for k in places)

    def now(self) -> tuple[Any, ...]:
        return self.items


def held(*numbers: int) -> Held:
    windows = drawn_poses(2, 40)
    return Held(poses_by={n: windows[n] for n in numbers}, seals_by=dict.fromkeys(numbers, "first"), count=1)


def test_only_what_is_new_is_read_again() -> None:
    library = held(1, 2, 3)
    kept = Kept(Once(library), library.poses, GrowingList)
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
    assert after.index == tuple(after.items[n] for n in (2, 3, 7)) and after.there is None
    library.count = 3
    assert kept.at(NOWHERE).index is after.index and len(library.read) == 6  # nothing of it has changed
    library.count = 2
    assert kept.at(NOWHERE).changes == 3  # who began to look earlier takes the newer copy


def test_what_is_gone_stays_in_the_index_until_it_is_much() -> None:
    library = held(*range(1, 9))
    kept = Kept(Once(library), library.poses, GrowingList)
    first = kept.at(NOWHERE)
    assert first.there is None
    del library.seals_by[3]
    library.count = 2
    second = kept.at(NOWHERE)
    assert second.there is not None and second.ids[second.there].tolist() == [1, 2, 4, 5, 6, 7, 8]
    assert second.index is first.index and 3 not in second.items and 3 in first.items
    library.seals_by[3], library.count = "first", 3  # it comes back: nothing is read, nothing is moved
    back = kept.at(NOWHERE)
    assert back.index is first.index and back.there is None and back.items[3] is first.items[3]
    assert library.read == list(range(1, 9))
    del library.seals_by[3]
    library.count = 4
    assert 3 not in kept.at(NOWHERE).items
    library.seals_by[9], library.poses_by[9], library.count = "first", drawn_poses(3)[1], 5
    third = kept.at(NOWHERE)
    assert third.ids.tolist() == list(range(1, 10)) and third.there is not None and third.there.sum() == 8
    assert library.read == list(range(1, 10))
    del library.seals_by[5], library.seals_by[6]
    library.count = 6
    last = kept.at(NOWHERE)
    assert last.ids.tolist() == [1, 2, 4, 7, 8, 9] and last.there is None
    assert last.index == tuple(last.items[n] for n in last.ids.tolist())
    library.seals_by[3], library.count = "first", 7  # long gone: it is read again, and put where its number is
    again = kept.at(NOWHERE)
    assert again.ids.tolist() == [1, 2, 3, 4, 7, 8, 9]
    assert again.index == tuple(again.items[n] for n in again.ids.tolist())


@pytest.mark.parametrize("seed", range(6))
def test_indexes_that_grew_are_those_that_are_made_at_once(clips: list[Description], seed: int) -> None:
    """Whatever is added, taken away and changed, every shelf answers as a new one does."""
    chance = random.Random(seed)
    tracks = [describe_parts(DEMO[start : start + 60]) for start in range(0, 280, 10)]
    poses, library, versions = drawn_poses(seed, len(clips)), Held(), iter(range(10_000))
    grown, away = MemoryShelf(library), dict[int, str]()
    query = [clips[0]], [tracks[3].part(0.5, 3.2)], [poses[0].vectors[0]]
    for count in range(1, 25):
        for number in chance.sample(range(1, 40), 3):
            if number in library.seals_by and chance.random() < 0.6:
                away[number] = library.seals_by.pop(number)
                continue
            if number in away and number not in library.seals_by and chance.random() < 0.5:
                library.seals_by[number] = away[number]  # as it was
                continue
            k = chance.randrange(len(clips))
            library.seals_by[number] = str(next(versions))
            library.descriptions_by[number], library.tracks_by[number] = clips[k], tracks[k]
            library.poses_by[number] = poses[k]
        library.count = count
        found = [_answers(shelf, *query) for shelf in (grown, MemoryShelf(library))]
        assert found[0] == found[1]
        assert {number for number, _ in found[0][0]} == library.seals_by.keys()


def _answers(shelf: MemoryShelf, ways: Any, parts: Any, poses: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """What searches find, with the numbers of clips."""
    wholes = shelf.whole(NOWHERE, ways, None, 9)
    by_whole = ranked(ways, own_unlikeness(ways[0]), wholes.galleries, wholes.among, 99)
    on_shelf = shelf.parts(NOWHERE, parts, None, 9)
    matches = [] if on_shelf.gallery is None else on_shelf.gallery.search(parts[0], among=on_shelf.among, limit=99)
    return (
        [(int(wholes.ids[each.place]), each.score) for each in by_whole],
        [(int(on_shelf.ids[each.clip]), each.start_s, round(each.distance, 5)) for each in matches],
        [(each.clip, each.time_s, each.distance) for each in shelf.poses(NOWHERE, poses, np.ones(52), None, 99)],
    )


def test_many_searches_go_on_while_clips_come_and_go(clips: list[Description]) -> None:
    """What one thread sees is never half of a change of another."""
    tracks = [describe_parts(DEMO[start : start + 60]) for start in range(0, 280, 10)]
    library = Held()
    shelf = MemoryShelf(library)
    wrong: list[str] = []
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            parts = shelf.parts(NOWHERE, [], None, 9)
            wholes = shelf.whole(NOWHERE, [], None, 9)
            lengths = (len(parts.ids), 0 if parts.gallery is None else len(parts.gallery.durations_s))
            if len({*lengths}) > 1 or any(g.n_clips != len(wholes.ids) for g in wholes.galleries.values()):
                wrong.append(f"{lengths}")
            if parts.gallery is not None:
                parts.gallery.search(tracks[5].part(0.0, 3.0), among=parts.among, limit=3)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for count in range(1, 120):
        number = count % 17
        seals = dict(library.seals_by)
        if seals.pop(number, None) is None:
            seals[number] = str(count)
            library.descriptions_by[number], library.tracks_by[number] = clips[count % 20], tracks[count % 20]
        library.seals_by = seals
        library.count = count
        shelf.descriptions(NOWHERE, [number])
    is_over.set()
    for thread in threads:
        thread.join()
    assert wrong == []


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

    kept = Kept(Once(library), poses, GrowingList)
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

    kept = Kept(Once(library), poses, GrowingList)
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
