"""Search by example in a real library: any rig finds any other, filters, copies, what hits say."""

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
from keypose.library.filters import Filters
from keypose.library.library import Library
from keypose.library.searching.hits import Hit
from keypose.library.searching.memory_shelf import MemoryShelf
from keypose.library.searching.search import search, search_part, search_pose
from keypose.library.searching.stored import Stored
from keypose.library.store import Store
from library_cases import DEMO, scaled
from search_cases import PIECES, as_mixamo, in_a_mirror, markers, piece


class Searched:
    """A library and its shelf."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.shelf = MemoryShelf(Stored())

    @property
    def store(self) -> Store:
        return self.library._store

    def whole(self, query: kp.Motion | str, **options: object) -> tuple[Hit, ...]:
        return search(self.store, self.shelf, query, **options)  # type: ignore[arg-type]

    def part(self, query: kp.Motion | str, start: int, end: int, **options: object) -> tuple[Hit, ...]:
        return search_part(self.store, self.shelf, query, start, end, **options)  # type: ignore[arg-type]

    def pose(self, query: kp.Motion | str, frame: int, **options: object) -> tuple[Hit, ...]:
        return search_pose(self.store, self.shelf, query, frame, **options)  # type: ignore[arg-type]


def fill(library: Library) -> None:
    for name in PIECES:
        library.add(piece(name), tags=("demo", name))
    library.add(replace(as_mixamo(DEMO), name="all of it"), tags=("mixamo",))
    library.add(in_a_mirror(piece("kick")), tags=("demo",))
    library.add(markers(), tags=("markers",))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searched]:
    """A library that no test changes."""
    with Library(tmp_path_factory.mktemp("search") / "clips.db") as library:
        fill(library)
        yield Searched(library)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Searched]:
    """A library of a test's own."""
    with Library(tmp_path / "clips.db") as library:
        yield Searched(library)


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("ranker", ["descriptors", "swings"])
def test_a_clip_finds_itself_whatever_its_rig_unit_way_up_and_place(here: Searched, name: str, ranker: str) -> None:
    for query in (piece(name), as_mixamo(piece(name))):
        first = here.whole(query, ranker=ranker)[0]
        assert first.name == name and first.score == pytest.approx(1.0, abs=0.02) and not first.mirrored
        assert (first.start, first.end) == (0, first.clip.n_frames)
        assert first.query_start_s == 0.0 and first.query_end_s == pytest.approx(query.duration_s)


def test_scores_fall_and_do_not_depend_on_what_else_is_there(here: Searched, own: Searched) -> None:
    hits = here.whole(piece("walk"), limit=20)
    found = [hit.score for hit in hits]
    assert (
        found == sorted(found, reverse=True)
        and found[0] == pytest.approx(1.0, abs=1e-3)
        and all(0.0 <= score <= 1.0 for score in found)
    )
    assert {hit.name for hit in hits} == {*PIECES, "all of it", "kick_mirrored"}  # markers have no body
    own.library.add(piece("turn"))
    alone = own.whole(piece("walk"))
    assert len(alone) == 1 and alone[0].score == pytest.approx(
        next(hit.score for hit in hits if hit.name == "turn"), abs=1e-5
    )


def test_a_clip_of_the_library_is_left_out_and_needs_no_bytes(here: Searched, own: Searched) -> None:
    by_name = here.whole("kick", limit=20)
    by_motion = here.whole(piece("kick"), limit=20)
    assert by_motion[0].name == "kick" and [hit.name for hit in by_name] == [hit.name for hit in by_motion[1:]]
    np.testing.assert_allclose([h.score for h in by_name], [h.score for h in by_motion[1:]], atol=1e-5)
    for motion in (piece("kick"), piece("walk")):
        own.library.add(motion)
    for blob in (Path(own.library.where).parent).glob("clips.db.blobs/**/*"):
        if blob.is_file():
            blob.unlink()
    assert own.whole("kick", mirrored=False)
    assert own.whole("kick", joints="legs") and own.part("kick", 5, 40) and own.whole("kick", ranker="swings")


def test_the_mirror_image_is_found_as_such(here: Searched) -> None:
    for hits in (here.whole("kick"), here.whole("kick", ranker="swings"), here.whole("kick", joints="legs")):
        assert hits[0].name == "kick_mirrored" and hits[0].mirrored and hits[0].score > 0.9
        assert "mirrored" in hits[0].says
    plain = {hit.name: hit for hit in here.whole("kick", mirrored=False)}
    assert not plain["kick_mirrored"].mirrored and plain["kick_mirrored"].score < 0.9


@pytest.mark.parametrize("name", ["walk", "jump", "kick"])
def test_a_part_is_found_where_it_happens(here: Searched, name: str) -> None:
    start, end = PIECES[name]
    first = here.part(piece(name), 10, end - start - 10, limit=3, fold=False)[0]
    assert first.name == name and first.score > 0.98
    assert abs(first.start - 10) <= 2 and abs(first.end - (end - start - 10)) <= 2
    within = next(hit for hit in here.part(piece(name), 10, end - start - 10, limit=9) if hit.name == "all of it")
    assert abs(within.start - start - 10) <= 3 and abs(within.end - end + 10) <= 3
    assert within.end_s - within.start_s == pytest.approx((end - start - 20) / 30, abs=0.15)
    found = here.library.get(within.clip.hash)[within.start : within.end]
    assert found.n_frames == within.end - within.start


def test_several_places_of_one_clip_do_not_overlap(here: Searched) -> None:
    hits = [hit for hit in here.part("walk", 20, 50, limit=30, several=True) if hit.name == "all of it"]
    assert len(hits) > 1
    spans = sorted((hit.start_s, hit.end_s) for hit in hits)
    assert all(end <= start + 0.05 for (_, end), (start, _) in itertools.pairwise(spans))
    once = [hit.name for hit in here.part("walk", 20, 50, limit=30)]
    assert len(once) == len(set(once))


@pytest.mark.parametrize("start, end", [(5, 5), (9, 3), (0, 101), (-1, 4), (100, 101), (0.5, 4), (None, 3)])
def test_bad_frames_are_refused(here: Searched, start: int, end: int) -> None:
    with pytest.raises(OptionError, match="expected"):
        here.part(piece("walk"), start, end)


def test_one_frame_is_enough_and_a_query_may_be_longer_than_every_clip(here: Searched) -> None:
    assert here.part("walk", 99, 100)
    assert here.part(piece("walk")[:1], 0, 1)
    assert here.whole(piece("walk")[:1])
    long = here.part(DEMO, 0, DEMO.n_frames, limit=20)
    assert long[0].name == "all of it" and {hit.name for hit in long} > {"walk"}


def test_a_pose_is_found_in_any_rig(here: Searched) -> None:
    at = 45  # within the kick
    hits = here.pose(as_mixamo(piece("kick")), at, limit=9)
    by_name = {hit.name: hit for hit in hits}
    assert set(list(by_name)[:3]) == {"kick", "all of it", "kick_mirrored"} and len(by_name) == len(hits)
    for name, frame in (("kick", at), ("all of it", at + PIECES["kick"][0]), ("kick_mirrored", at)):
        hit = by_name[name]
        assert abs(hit.start - frame) <= 6 and hit.end == hit.start + 1 and hit.score > 0.6
        assert hit.why.centimetres is not None and hit.why.centimetres < 6.0 and " cm apart" in hit.says
    assert by_name["kick_mirrored"].mirrored and not by_name["kick"].mirrored
    plain = {hit.name: hit for hit in here.pose(piece("kick"), at, mirrored=False)}
    assert plain["kick"].score == by_name["kick"].score
    assert not plain["kick_mirrored"].mirrored and plain["kick_mirrored"].score < by_name["kick_mirrored"].score
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_poses_of_one_clip_are_a_second_apart(here: Searched) -> None:
    several = [hit.start_s for hit in here.pose("walk", 40, several=True, limit=40) if hit.name == "all of it"]
    assert len(several) > 3 and np.diff(sorted(several)).min() >= 1.0 - 1e-9


def test_a_posed_figure_is_a_motion_of_one_frame(here: Searched) -> None:
    first = here.pose(piece("jump")[20:21], 0)[0]
    assert first.name in ("jump", "all of it") and first.score > 0.5
    with pytest.raises(OptionError, match="frame=1, expected at most 0"):
        here.pose(piece("jump")[:1], 1)


def test_body_parts_that_matter(here: Searched) -> None:
    other_arm = replace(piece("walk"), rotations=_with_still(piece("walk"), "left_arm"))
    whole = here.pose(other_arm, 40, limit=1)[0]
    legs = here.pose(other_arm, 40, joints="legs", limit=1)[0]
    assert legs.name in ("walk", "all of it") and legs.score > whole.score
    assert here.part(other_arm, 20, 60, joints=("legs", "right_arm"), limit=1)[0].score > 0.98
    assert here.part(other_arm, 20, 60, joints="left_arm", limit=1)[0].score < 0.98
    swings = here.whole(other_arm, joints=["legs", "torso"], ranker="swings", mirrored=False)[0]
    assert swings.name == "walk" and swings.score == pytest.approx(1.0, abs=0.02)
    assert {each.part.split("_")[0] for each in swings.why.swings}


def _with_still(motion: kp.Motion, group: str) -> Floats:
    rotations = motion.rotations.copy()
    rotations[:, list(motion.skeleton.anatomy.joints(group))] = (0.9, 0.1, -0.3, 0.3)
    return np.asarray(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True))


@pytest.mark.parametrize("verb", ["whole", "part", "pose"])
def test_filters_leave_out_what_does_not_pass(here: Searched, verb: str) -> None:
    def found(filters: Filters) -> list[str]:
        return [hit.name for hit in ask(here, verb, piece("walk"), filters=filters, limit=20)]

    everything = found(Filters())
    assert len(everything) == 7
    long = [name for name, (start, end) in PIECES.items() if (end - start) / 30 >= 2.2]
    for filters, expected in (
        (Filters.of(tags=("demo",)), [name for name in everything if name != "all of it"]),
        (Filters.of(tags=("demo", "KICK")), ["kick"]),
        (Filters.of(words="ki"), ["kick", "kick_mirrored"]),
        (Filters.of(words="all mixamo"), ["all of it"]),
        (Filters.of(least_duration_s=2.2), [n for n in everything if n in (*long, "all of it", "kick_mirrored")]),
        (Filters.of(most_duration_s=1.5), ["stand"]),
        (Filters.of(tags=("markers",)), []),
        (Filters.of(tags=("nothing like it",)), []),
        (Filters.of(skeleton=here.library.clip("all of it").skeleton), ["all of it"]),
    ):
        assert sorted(found(filters)) == sorted(expected), filters
        assert found(filters) == [name for name in everything if name in expected]


def ask(here: Searched, verb: str, query: kp.Motion | str, **options: object) -> tuple[Hit, ...]:
    frames = {"whole": (), "part": (20, 50), "pose": (30,)}[verb]
    hits: tuple[Hit, ...] = getattr(here, verb)(query, *frames, **options)
    return hits


@pytest.mark.parametrize("verb", ["whole", "part", "pose"])
def test_options_are_checked(here: Searched, verb: str) -> None:
    for wrong in ({"limit": 0}, {"limit": 1.5}, {"mirrored": 1}, {"joints": ()}, {"joints": 3}, {"fold": "no"}):
        with pytest.raises(OptionError, match="expected"):
            ask(here, verb, piece("walk"), **wrong)
    with pytest.raises(UnknownJoint, match="left_arm"):
        ask(here, verb, piece("walk"), joints="left_armm")
    with pytest.raises(OptionError, match="no clip 'wlak' in the library; did you mean 'walk'"):
        ask(here, verb, "wlak")
    with pytest.raises(OptionError, match="expected a Motion or the name"):
        ask(here, verb, 7)  # type: ignore[arg-type]
    for bodiless in (markers(), "markers"):
        with pytest.raises(OptionError, match=r"no left_shin, right_shin.*search by words"):
            ask(here, verb, bodiless)
    assert len(ask(here, verb, "walk", limit=1)) == 1


def test_filters_are_checked() -> None:
    for wrong in ({"tags": "walk"}, {"words": "!"}, {"least_duration_s": -1}, {"most_duration_s": "x"}):
        with pytest.raises(OptionError, match="expected"):
            Filters.of(**wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="least_duration_s=3, expected at most"):
        Filters.of(least_duration_s=3, most_duration_s=2)
    with pytest.raises(OptionError, match="expected one of descriptors, swings"):
        search(None, None, DEMO, ranker="magic")  # type: ignore[arg-type]


def test_copies_of_one_take_are_one_hit(own: Searched) -> None:
    walk = piece("walk")
    for name, copy in {
        "walk": walk,
        "walk 24": walk.at_fps(24.0),
        "walk cm": scaled(walk, 100.0),
        "walk later": walk[4:],
        "turn": piece("turn"),
        "kick": piece("kick"),
    }.items():
        own.library.add(copy, name=name)
    for query in (walk, "kick"):
        hits = own.whole(query)
        folded = {hit.name: set(hit.also) for hit in hits}
        leader = next(name for name in folded if name.startswith("walk"))
        assert {leader, *folded[leader]} == {"walk", "walk 24", "walk cm", "walk later"}
        assert len(hits) == (3 if query is walk else 2) and not folded["turn"]
        assert "same take as" in next(hit for hit in hits if hit.name == leader).says
    assert [hit.name for hit in own.whole(walk, limit=2)][1] in ("turn", "kick")
    assert len(own.whole(walk, fold=False)) == 6 and not any(hit.also for hit in own.whole(walk, fold=False))
    assert {hit.name for hit in own.whole("walk")} & {"walk 24", "walk cm"}  # it is left out, its copies are not
    for hits in (own.part(walk, 10, 60), own.pose(walk, 30)):
        assert sum(hit.name.startswith("walk") for hit in hits) == 1 and any(len(hit.also) == 3 for hit in hits)


def test_hits_explain_themselves(here: Searched) -> None:
    hit = next(hit for hit in here.whole(piece("kick")) if hit.name == "all of it")
    assert hit.why.spans and hit.why.spans == tuple(sorted(hit.why.spans, key=lambda span: span.unlikeness))
    for span in hit.why.spans:
        assert 0 <= span.query_start_s < span.query_end_s <= piece("kick").duration_s + 0.05
        assert hit.start_s - 0.05 <= span.start_s < span.end_s <= hit.end_s + 0.05
    part = next(h for h in here.part(piece("kick"), 20, 70) if h.name == "all of it")
    assert part.why.swings and all(each.cosine >= 0.5 for each in part.why.swings)
    for each in part.why.swings:
        assert 20 / 30 - 1e-6 <= each.query_start_s < each.query_end_s <= 70 / 30 + 1e-6
        assert part.start_s - 0.1 <= each.start_s < each.end_s <= part.end_s + 0.1
    said = [each.part.replace("_", " ") for each in part.why.swings]
    assert part.says.startswith(f"seconds {part.start_s:.1f} to {part.end_s:.1f}; {said[0]}")
    assert part.says.endswith("alike") and "\n" not in part.says
    again = pickle.loads(pickle.dumps(part))
    assert again == part and again.why.swings == part.why.swings and again.says == part.says


def test_what_is_added_changed_and_removed_is_seen(own: Searched) -> None:
    assert own.whole(piece("walk")) == own.part(piece("walk"), 0, 20) == own.pose(piece("walk"), 0) == ()
    assert own.whole(piece("walk"), ranker="swings") == ()
    own.library.add(piece("walk"))
    assert [hit.name for hit in own.whole(piece("walk"))] == ["walk"]
    own.library.add(piece("kick"))
    assert {hit.name for hit in own.part(piece("walk"), 20, 50)} <= {"walk", "kick"}
    own.library.rename("walk", "gait")
    own.library.tag("gait", "slow")
    assert [hit.name for hit in own.whole(piece("walk"), filters=Filters.of(tags=("slow",)))] == ["gait"]
    kept = own.whole(piece("walk"))
    own.library.remove("gait")
    assert [hit.name for hit in own.whole(piece("walk"))] == ["kick"]
    assert [hit.name for hit in own.pose(piece("walk"), 10)] == ["kick"]
    assert kept[0].why.swings == () and kept[0].says  # asked for after the clip was gone


def test_another_library_on_the_same_file_is_followed(own: Searched) -> None:
    own.library.add(piece("walk"))
    assert len(own.whole(piece("walk"))) == 1
    with Library(own.library.where) as other:
        other.add(piece("turn"))
        other.remove("walk")
    assert [hit.name for hit in own.whole(piece("walk"))] == ["turn"]


def test_many_threads_search_one_library_while_it_changes(own: Searched) -> None:
    for name in ("walk", "kick", "stand"):
        own.library.add(piece(name))
    expected = {verb: ask(own, verb, piece("walk"), limit=3)[0].name for verb in ("whole", "part", "pose")}
    wrong: list[object] = []
    stop = threading.Event()

    def looking(verb: str) -> None:
        try:
            while not stop.is_set():
                hits = ask(own, verb, piece("walk"), limit=3)
                if hits[0].name != expected[verb]:
                    wrong.append(hits)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=looking, args=(verb,)) for verb in expected]
    for thread in threads:
        thread.start()
    for k in range(2):
        own.library.add(replace(piece("turn")[: 20 + k], name=f"extra {k}"))
        own.library.remove("stand" if k == 0 else f"extra {k - 1}")
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
