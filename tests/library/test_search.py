"""Search by example in a real library: any rig finds any other; filters, duplicates, explanations."""

from __future__ import annotations

import itertools
import pickle
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import Floats
from keypose.errors import OptionError, UnknownJoint
from keypose.library.library import Library
from keypose.library.listing import Filters
from keypose.library.search.hits import Hit, MatchDetails
from keypose.library.search.memory_index import MemoryIndex, TableReader
from keypose.library.search.search import search, search_part, search_pose
from keypose.library.store import Store
from support.errors import raises
from support.library_cases import DEMO, scale_motion
from support.search_cases import CLIP_FRAMES, as_mixamo, demo_clip, marker_motion, mirror_motion


class Searcher:
    """A library and its index."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.index = MemoryIndex(TableReader())

    @property
    def store(self) -> Store:
        return self.library._store

    def whole(self, query: kp.Motion | str, **options: object) -> tuple[Hit, ...]:
        return search(self.store, self.index, query, **options)  # type: ignore[arg-type]

    def part(self, query: kp.Motion | str, start: int, end: int, **options: object) -> tuple[Hit, ...]:
        return search_part(self.store, self.index, query, start, end, **options)  # type: ignore[arg-type]

    def pose(self, query: kp.Motion | str, frame: int, **options: object) -> tuple[Hit, ...]:
        return search_pose(self.store, self.index, query, frame, **options)  # type: ignore[arg-type]


def fill(library: Library) -> None:
    for name in CLIP_FRAMES:
        library.add(demo_clip(name), tags=("demo", name))
    library.add(replace(as_mixamo(DEMO), name="all of it"), tags=("mixamo",))
    library.add(mirror_motion(demo_clip("kick")), tags=("demo",))
    library.add(marker_motion(), tags=("markers",))


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """A library that no test changes."""
    with Library(tmp_path_factory.mktemp("search") / "clips.db") as library:
        fill(library)
        yield Searcher(library)


@pytest.fixture
def own_searcher(tmp_path: Path) -> Iterator[Searcher]:
    """A library of one test."""
    with Library(tmp_path / "clips.db") as library:
        yield Searcher(library)


@pytest.fixture
def all_clips_are_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also clips that have nothing in common with the query, so that few clips suffice."""
    monkeypatch.setattr("keypose.library.search.search.MIN_SCORE", 0.0)


@pytest.mark.parametrize("name", CLIP_FRAMES)
@pytest.mark.parametrize("ranker", ["descriptors", "swings"])
def test_a_clip_finds_itself_in_any_rig_unit_up_axis_and_position(searcher: Searcher, name: str, ranker: str) -> None:
    for query in (demo_clip(name), as_mixamo(demo_clip(name))):
        first = searcher.whole(query, ranker=ranker)[0]
        assert first.name == name and first.score == pytest.approx(1.0, abs=0.02) and not first.mirrored
        assert (first.start, first.end) == (0, first.clip.n_frames)
        assert first.query_start_s == 0.0 and first.query_end_s == pytest.approx(query.duration_s)


def test_a_hit_is_printed_in_one_line(searcher: Searcher) -> None:
    (hit,) = searcher.whole(mirror_motion(demo_clip("walk")), limit=1)
    clip = hit.clip
    assert repr(hit) == f"Hit('walk', score {hit.score:.2f}, frames {hit.start}:{hit.end}, mirrored)"
    assert (
        repr(clip) == f"Clip('walk', {clip.n_frames} frames at 30 fps, {clip.duration_s:.2f} s, hash {clip.hash[:8]})"
    )
    assert searcher.library.clip(clip.hash[:8]) == clip


def test_scores_descend_and_do_not_depend_on_other_clips(searcher: Searcher, own_searcher: Searcher) -> None:
    hits = searcher.whole(demo_clip("walk"), limit=20)
    result = [hit.score for hit in hits]
    assert (
        result == sorted(result, reverse=True)
        and result[0] == pytest.approx(1.0, abs=1e-3)
        and all(0.0 <= score <= 1.0 for score in result)
    )
    assert [hit.name for hit in hits] == ["walk", "all of it", "turn"]
    own_searcher.library.add(demo_clip("turn"))
    alone = own_searcher.whole(demo_clip("walk"))
    assert len(alone) == 1 and alone[0].score == pytest.approx(
        next(hit.score for hit in hits if hit.name == "turn"), abs=1e-5
    )


@pytest.mark.parametrize("limit", [2, 20])
def test_clips_with_a_score_of_0_are_no_hits(searcher: Searcher, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    query = demo_clip("walk")
    hits = searcher.whole(query, limit=limit)
    assert all(f"{hit.score:.2f}" != "0.00" for hit in hits)
    monkeypatch.setattr("keypose.library.search.search.MIN_SCORE", 0.0)
    everything = searcher.whole(query, limit=20)
    assert {hit.name for hit in everything} == {*CLIP_FRAMES, "all of it", "kick_mirrored"}  # markers have no body
    assert [hit.name for hit in hits] == [hit.name for hit in everything if f"{hit.score:.2f}" != "0.00"][:limit]


def test_a_library_clip_as_query_is_excluded_and_needs_no_bytes(searcher: Searcher, own_searcher: Searcher) -> None:
    by_name = searcher.whole("kick", limit=20)
    by_motion = searcher.whole(demo_clip("kick"), limit=20)
    assert by_motion[0].name == "kick" and [hit.name for hit in by_name] == [hit.name for hit in by_motion[1:]]
    np.testing.assert_allclose([h.score for h in by_name], [h.score for h in by_motion[1:]], atol=1e-5)
    for motion in (demo_clip("kick"), demo_clip("jump")):
        own_searcher.library.add(motion)
    for blob in (Path(own_searcher.library.location).parent).glob("clips.db.blobs/**/*"):
        if blob.is_file():
            blob.unlink()
    assert own_searcher.whole("kick", mirrored=False)
    assert (
        own_searcher.whole("kick", joints="legs")
        and own_searcher.part("kick", 5, 40)
        and own_searcher.whole("kick", ranker="swings")
    )


def test_the_mirror_image_is_found_as_mirrored(searcher: Searcher) -> None:
    for hits in (
        searcher.whole("kick"),
        searcher.whole("kick", ranker="swings"),
        searcher.whole("kick", joints="legs"),
    ):
        assert hits[0].name == "kick_mirrored" and hits[0].mirrored and hits[0].score > 0.9
        assert "mirrored" in hits[0].explanation
    plain = {hit.name: hit for hit in searcher.whole("kick", mirrored=False)}
    assert not plain["kick_mirrored"].mirrored and plain["kick_mirrored"].score < 0.9


@pytest.mark.parametrize("name", ["walk", "jump", "kick"])
def test_a_part_is_found_at_its_position(searcher: Searcher, name: str) -> None:
    start, end = CLIP_FRAMES[name]
    first = searcher.part(demo_clip(name), 10, end - start - 10, limit=3, deduplicate=False)[0]
    assert first.name == name and first.score > 0.98
    assert abs(first.start - 10) <= 2 and abs(first.end - (end - start - 10)) <= 2
    within = next(
        hit for hit in searcher.part(demo_clip(name), 10, end - start - 10, limit=9) if hit.name == "all of it"
    )
    assert abs(within.start - start - 10) <= 3 and abs(within.end - end + 10) <= 3
    assert within.end_s - within.start_s == pytest.approx((end - start - 20) / 30, abs=0.15)
    result = searcher.library.get(within.clip.hash)[within.start : within.end]
    assert result.n_frames == within.end - within.start


def test_multiple_spans_of_one_clip_do_not_overlap(searcher: Searcher) -> None:
    hits = [hit for hit in searcher.part("walk", 20, 50, limit=30, multiple=True) if hit.name == "all of it"]
    assert len(hits) > 1
    spans = sorted((hit.start_s, hit.end_s) for hit in hits)
    assert all(end <= start + 0.05 for (_, end), (start, _) in itertools.pairwise(spans))
    once = [hit.name for hit in searcher.part("walk", 20, 50, limit=30)]
    assert len(once) == len(set(once))


@pytest.mark.parametrize(
    ("start", "end", "option"),
    [(5, 5, "end"), (9, 3, "end"), (0, 101, "end"), (-1, 4, "start"), (100, 101, "end"), (0.5, 4, "start"),
     (None, 3, "start")],
)  # fmt: skip
def test_bad_frames_are_refused(searcher: Searcher, start: int, end: int, option: str) -> None:
    with raises(OptionError, option=option, value={"start": start, "end": end}[option]):
        searcher.part(demo_clip("walk"), start, end)


def test_one_frame_is_enough_and_a_query_may_be_longer_than_every_clip(searcher: Searcher) -> None:
    assert searcher.part("walk", 99, 100)
    assert searcher.part(demo_clip("walk")[:1], 0, 1)
    assert searcher.whole(demo_clip("walk")[:1])
    long = searcher.part(DEMO, 0, DEMO.n_frames, limit=20)
    assert long[0].name == "all of it" and {hit.name for hit in long} > {"walk"}


def test_a_pose_is_found_in_any_rig(searcher: Searcher) -> None:
    at = 45  # within the kick
    hits = searcher.pose(as_mixamo(demo_clip("kick")), at, limit=9)
    by_name = {hit.name: hit for hit in hits}
    assert set(list(by_name)[:3]) == {"kick", "all of it", "kick_mirrored"} and len(by_name) == len(hits)
    for name, frame in (("kick", at), ("all of it", at + CLIP_FRAMES["kick"][0]), ("kick_mirrored", at)):
        hit = by_name[name]
        assert abs(hit.start - frame) <= 6 and hit.end == hit.start + 1 and hit.score > 0.6
        assert (
            hit.details.joint_distance_cm is not None
            and hit.details.joint_distance_cm < 6.0
            and " cm apart" in hit.explanation
        )
    assert by_name["kick_mirrored"].mirrored and not by_name["kick"].mirrored
    plain = {hit.name: hit for hit in searcher.pose(demo_clip("kick"), at, mirrored=False)}
    assert plain["kick"].score == by_name["kick"].score
    assert not plain["kick_mirrored"].mirrored and plain["kick_mirrored"].score < by_name["kick_mirrored"].score
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_poses_of_one_clip_are_a_second_apart(searcher: Searcher) -> None:
    starts = [hit.start_s for hit in searcher.pose("walk", 40, multiple=True, limit=40) if hit.name == "all of it"]
    assert len(starts) > 3 and np.diff(sorted(starts)).min() >= 1.0 - 1e-9


def test_a_posed_figure_is_a_motion_of_one_frame(searcher: Searcher) -> None:
    first = searcher.pose(demo_clip("jump")[20:21], 0)[0]
    assert first.name in ("jump", "all of it") and first.score > 0.5
    with raises(OptionError, option="frame", value=1, expected="at most 0"):
        searcher.pose(demo_clip("jump")[:1], 1)


def test_body_parts_that_matter(searcher: Searcher) -> None:
    other_arm = replace(demo_clip("walk"), rotations=_with_still(demo_clip("walk"), "left_arm"))
    full_hit = searcher.pose(other_arm, 40, limit=1)[0]
    legs = searcher.pose(other_arm, 40, joints="legs", limit=1)[0]
    assert legs.name in ("walk", "all of it") and legs.score > full_hit.score
    assert searcher.part(other_arm, 20, 60, joints=("legs", "right_arm"), limit=1)[0].score > 0.98
    assert searcher.part(other_arm, 20, 60, joints="left_arm", limit=1)[0].score < 0.98
    swings = searcher.whole(other_arm, joints=["legs", "torso"], ranker="swings", mirrored=False)[0]
    assert swings.name == "walk" and swings.score == pytest.approx(1.0, abs=0.02)
    assert {each.body_part.split("_")[0] for each in swings.details.swings}


def _with_still(motion: kp.Motion, group: str) -> Floats:
    rotations = motion.rotations.copy()
    rotations[:, list(motion.skeleton.anatomy.joints(group))] = (0.9, 0.1, -0.3, 0.3)
    return np.asarray(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True))


@pytest.mark.usefixtures("all_clips_are_hits")
@pytest.mark.parametrize("kind", ["whole", "part", "pose"])
def test_filters_exclude_other_clips(searcher: Searcher, kind: str) -> None:
    def result(filters: Filters) -> list[str]:
        return [hit.name for hit in run_search(searcher, kind, demo_clip("walk"), filters=filters, limit=20)]

    everything = result(Filters())
    assert len(everything) == 7
    long = [name for name, (start, end) in CLIP_FRAMES.items() if (end - start) / 30 >= 2.2]
    for filters, expected in (
        (Filters.parse(tags=("demo",)), [name for name in everything if name != "all of it"]),
        (Filters.parse(tags=("demo", "KICK")), ["kick"]),
        (Filters.parse(words="ki"), ["kick", "kick_mirrored"]),
        (Filters.parse(words="all mixamo"), ["all of it"]),
        (Filters.parse(min_duration_s=2.2), [n for n in everything if n in (*long, "all of it", "kick_mirrored")]),
        (Filters.parse(max_duration_s=1.5), ["stand"]),
        (Filters.parse(tags=("markers",)), []),
        (Filters.parse(tags=("nothing like it",)), []),
        (Filters.parse(skeleton=searcher.library.clip("all of it").skeleton), ["all of it"]),
    ):
        assert sorted(result(filters)) == sorted(expected), filters
        assert result(filters) == [name for name in everything if name in expected]


def run_search(searcher: Searcher, kind: str, query: kp.Motion | str, **options: object) -> tuple[Hit, ...]:
    frames = {"whole": (), "part": (20, 50), "pose": (30,)}[kind]
    hits: tuple[Hit, ...] = getattr(searcher, kind)(query, *frames, **options)
    return hits


@pytest.mark.parametrize("kind", ["whole", "part", "pose"])
def test_options_are_checked(searcher: Searcher, kind: str) -> None:
    for wrong in ({"limit": 0}, {"limit": 1.5}, {"mirrored": 1}, {"joints": ()}, {"joints": 3}, {"deduplicate": "no"}):
        ((option, value),) = wrong.items()
        with raises(OptionError, option=option, value=value):
            run_search(searcher, kind, demo_clip("walk"), **wrong)
    with raises(UnknownJoint, code="joint", value="left_armm"):
        run_search(searcher, kind, demo_clip("walk"), joints="left_armm")
    with raises(OptionError, code="unknown_clip", hint="did you mean 'walk'?"):
        run_search(searcher, kind, "wlak")
    with raises(OptionError, option="query", value=7):
        run_search(searcher, kind, 7)  # type: ignore[arg-type]
    for bodiless in (marker_motion(), "markers"):
        with raises(OptionError, code="no_body", subject="markers", expected="a figure with both knees"):
            run_search(searcher, kind, bodiless)
    assert len(run_search(searcher, kind, "walk", limit=1)) == 1


def test_filters_are_checked() -> None:
    for wrong in ({"tags": "walk"}, {"words": "!"}, {"min_duration_s": -1}, {"max_duration_s": "x"}):
        with raises(OptionError, option=next(iter(wrong))):
            Filters.parse(**wrong)  # type: ignore[arg-type]
    with raises(OptionError, option="min_duration_s", value=3.0):
        Filters.parse(min_duration_s=3, max_duration_s=2)
    with raises(OptionError, option="ranker", value="magic", expected="one of descriptors, swings"):
        search(None, None, DEMO, ranker="magic")  # type: ignore[arg-type]


@pytest.mark.usefixtures("all_clips_are_hits")
def test_copies_of_one_take_are_one_hit(own_searcher: Searcher) -> None:
    walk = demo_clip("walk")
    for name, copy in {
        "walk": walk,
        "walk 24": walk.at_fps(24.0),
        "walk cm": scale_motion(walk, 100.0),
        "walk later": walk[4:],
        "turn": demo_clip("turn"),
        "kick": demo_clip("kick"),
    }.items():
        own_searcher.library.add(copy, name=name)
    for query in (walk, "kick"):
        hits = own_searcher.whole(query)
        duplicates = {hit.name: set(hit.duplicates) for hit in hits}
        leader = next(name for name in duplicates if name.startswith("walk"))
        assert {leader, *duplicates[leader]} == {"walk", "walk 24", "walk cm", "walk later"}
        assert len(hits) == (3 if query is walk else 2) and not duplicates["turn"]
        assert "same take as" in next(hit for hit in hits if hit.name == leader).explanation
    assert [hit.name for hit in own_searcher.whole(walk, limit=2)][1] in ("turn", "kick")
    assert len(own_searcher.whole(walk, deduplicate=False)) == 6 and not any(
        hit.duplicates for hit in own_searcher.whole(walk, deduplicate=False)
    )
    assert {hit.name for hit in own_searcher.whole("walk")} & {
        "walk 24",
        "walk cm",
    }  # it is excluded, its copies are not
    for hits in (own_searcher.part(walk, 10, 60), own_searcher.pose(walk, 30)):
        assert sum(hit.name.startswith("walk") for hit in hits) == 1 and any(len(hit.duplicates) == 3 for hit in hits)


def test_hits_explain_themselves(searcher: Searcher) -> None:
    hit = next(hit for hit in searcher.whole(demo_clip("kick")) if hit.name == "all of it")
    assert hit.details.spans and hit.details.spans == tuple(sorted(hit.details.spans, key=lambda span: span.distance))
    for span in hit.details.spans:
        assert 0 <= span.query_start_s < span.query_end_s <= demo_clip("kick").duration_s + 0.05
        assert hit.start_s - 0.05 <= span.start_s < span.end_s <= hit.end_s + 0.05
    part = next(h for h in searcher.part(demo_clip("kick"), 20, 70) if h.name == "all of it")
    assert part.details.swings and all(each.cosine >= 0.5 for each in part.details.swings)
    for each in part.details.swings:
        assert 20 / 30 - 1e-6 <= each.query_start_s < each.query_end_s <= 70 / 30 + 1e-6
        assert part.start_s - 0.1 <= each.start_s < each.end_s <= part.end_s + 0.1
    part_names = [each.body_part.replace("_", " ") for each in part.details.swings]
    assert part.explanation.startswith(f"seconds {part.start_s:.1f} to {part.end_s:.1f}; {part_names[0]}")
    assert part.explanation.endswith("alike") and "\n" not in part.explanation
    unpickled = pickle.loads(pickle.dumps(part))
    assert (
        unpickled == part
        and unpickled.details.swings == part.details.swings
        and unpickled.explanation == part.explanation
    )
    assert pickle.loads(pickle.dumps(MatchDetails((), 1.5))).joint_distance_cm == 1.5


@pytest.mark.usefixtures("all_clips_are_hits")
def test_searches_see_added_changed_and_removed_clips(own_searcher: Searcher) -> None:
    assert (
        own_searcher.whole(demo_clip("walk"))
        == own_searcher.part(demo_clip("walk"), 0, 20)
        == own_searcher.pose(demo_clip("walk"), 0)
        == ()
    )
    assert own_searcher.whole(demo_clip("walk"), ranker="swings") == ()
    own_searcher.library.add(demo_clip("walk"))
    assert [hit.name for hit in own_searcher.whole(demo_clip("walk"))] == ["walk"]
    own_searcher.library.add(demo_clip("kick"))
    assert {hit.name for hit in own_searcher.part(demo_clip("walk"), 20, 50)} <= {"walk", "kick"}
    own_searcher.library.rename("walk", "gait")
    own_searcher.library.tag("gait", "slow")
    assert [hit.name for hit in own_searcher.whole(demo_clip("walk"), filters=Filters.parse(tags=("slow",)))] == [
        "gait"
    ]
    hits = own_searcher.whole(demo_clip("walk"))
    own_searcher.library.remove("gait")
    assert [hit.name for hit in own_searcher.whole(demo_clip("walk"))] == ["kick"]
    assert [hit.name for hit in own_searcher.pose(demo_clip("walk"), 10)] == ["kick"]
    assert hits[0].details.swings == () and hits[0].explanation  # loaded after the clip was removed


def test_searches_see_changes_by_another_connection(own_searcher: Searcher) -> None:
    own_searcher.library.add(demo_clip("walk"))
    assert len(own_searcher.whole(demo_clip("walk"))) == 1
    with Library(own_searcher.library.location) as other:
        other.add(demo_clip("turn"))
        other.remove("walk")
    assert [hit.name for hit in own_searcher.whole(demo_clip("walk"))] == ["turn"]


def test_many_threads_search_one_library_while_it_changes(own_searcher: Searcher) -> None:
    for name in ("walk", "kick", "stand"):
        own_searcher.library.add(demo_clip(name))
    expected = {
        kind: run_search(own_searcher, kind, demo_clip("walk"), limit=3)[0].name for kind in ("whole", "part", "pose")
    }
    wrong: list[object] = []
    stop = threading.Event()

    def search_repeatedly(kind: str) -> None:
        try:
            while not stop.is_set():
                hits = run_search(own_searcher, kind, demo_clip("walk"), limit=3)
                if hits[0].name != expected[kind]:
                    wrong.append(hits)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=search_repeatedly, args=(kind,)) for kind in expected]
    for thread in threads:
        thread.start()
    for k in range(2):
        own_searcher.library.add(replace(demo_clip("turn")[: 20 + k], name=f"extra {k}"))
        own_searcher.library.remove("stand" if k == 0 else f"extra {k - 1}")
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
