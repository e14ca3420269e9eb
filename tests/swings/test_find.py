"""Swings.find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import keypose as kp
from keypose.errors import Hint, OptionError, UnknownJoint
from keypose.swings import Swing, Swings, Track, swings
from reference import naive_swings_find
from support.errors import Pattern, raises

DEMO = swings(kp.demo_motion(fps=60))
JOINTS = st.sampled_from(("all", "right_leg", ("arms", "head"), "hips", ["left_thigh", "right_thigh"]))
# no whole frame: whether a swing goes on exactly then is a matter of its own test
SECONDS = st.integers(0, int(DEMO.duration_s * 1000) - 1).map(lambda ms: ms / 1000 + 1 / 7919)
LENGTHS = st.integers(1, 2000).map(lambda ms: ms / 1000 + 1 / 7919)
DEGREES = st.floats(0.01, 200.0)
QUERIES = st.fixed_dictionaries(
    {},
    optional={
        "index": st.integers(-40, 40),
        "at_s": SECONDS,
        "from_s": SECONDS,
        "to_s": SECONDS,
        "longer_s": LENGTHS,
        "shorter_s": LENGTHS,
        "wider_deg": DEGREES,
        "narrower_deg": DEGREES,
    },
)


@given(JOINTS, QUERIES)
def test_find_matches_the_reference(joints, query):
    for low, high in (("from_s", "to_s"), ("longer_s", "shorter_s"), ("wider_deg", "narrower_deg")):
        assume(query.get(low, -1.0) < query.get(high, np.inf))
    max_swings = max(DEMO.tracks[j].n_swings for j in DEMO.skeleton.joints(joints))
    assume(-max_swings <= query.get("index", 0) < max_swings)
    assert list(DEMO.find(joints, **query)) == naive_swings_find.find(DEMO, joints, **query)


def test_no_condition_returns_all_in_order_of_time():
    matches = DEMO.find()
    assert len(matches) == DEMO.n_swings
    order = [(swing.start, DEMO.skeleton.joint(swing.joint)) for swing in matches]
    assert order == sorted(order)
    assert set(matches) == {swing for track in DEMO.tracks for swing in track.swings}  # the very ones


def three_swings(fps: float = 10.0) -> Swings:
    """The demo's figure for 4 s; its left thigh swings for 0.5 s, 1 s and 0.5 s, by 10, 20 and 30 degrees."""
    rows = (("left_thigh", (2, 7, 10), (10, 20, 20), (22, 27, 30)), ("right_thigh", (0, 5, 10)))
    tracks = {}
    for part, *spans in rows:
        j = DEMO.skeleton.joint(part)
        name = DEMO.skeleton.names[j]
        joint_swings = [Swing(name, a, b, (1, 0, 0, 0), (1, 0, 0), np.deg2rad(deg)) for a, b, deg in spans]
        tracks[j] = Track.build(name, (1, 0, 0, 0), joint_swings)
    still = tuple(Track(name, (1, 0, 0, 0)) for name in DEMO.skeleton.names)
    return replace(DEMO, fps=fps, n_frames=40, tracks=still, paths=(), contacts=None).replace_tracks(tracks)


def starts(matches) -> list[int]:
    return [swing.start for swing in matches]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"index": 1}, [10]),
        ({"index": -1}, [22]),
        ({"at_s": 1.0}, [10]),
        ({"at_s": 2.0}, [10]),
        ({"at_s": 2.1}, []),
        ({"from_s": 2.0}, [10, 22]),
        ({"from_s": 2.0, "to_s": 2.0}, [10]),
        ({"to_s": 0.2}, [2]),
        ({"to_s": 0.19}, []),
        ({"longer_s": 0.5}, [10]),
        ({"longer_s": 0.49}, [2, 10, 22]),
        ({"shorter_s": 0.5}, []),
        ({"shorter_s": 1.0}, [2, 22]),
        ({"wider_deg": 15, "narrower_deg": 25}, [10]),
        ({"wider_deg": 45}, []),
        ({"longer_s": 0.2, "wider_deg": 15, "from_s": 2.1}, [22]),
        ({"index": 0, "from_s": 1.0}, []),
    ],
)
def test_each_condition(query, expected):
    assert starts(three_swings().find("left_thigh", **query)) == expected


def test_a_frame_as_time_means_that_frame_at_every_rate():
    for fps in (24.0, 30.0, 59.94, 60.0, 119.88, 120.0, 240.0):
        swings_at_rate = three_swings(fps)
        for swing in swings_at_rate["left_thigh"]:
            for frame in (swing.start, swing.end):
                assert swings_at_rate.find("left_thigh", at_s=frame / fps) == (swing,)
            duration_s = (swing.end - swing.start) / fps
            assert swing not in swings_at_rate.find(longer_s=duration_s) and swing not in swings_at_rate.find(
                shorter_s=duration_s
            )


def test_index_counts_within_each_joint():
    assert [(s.joint, s.start) for s in three_swings().find("legs", index=0)] == [("RightUpLeg", 0), ("LeftUpLeg", 2)]
    assert [s.start for s in three_swings().find("legs", index=2)] == [22]  # the other has fewer


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        (
            {"joints": "left_thigh", "index": 3},
            {"option": "index", "expected": "-3 to 2", "problem": "is out of range: LeftUpLeg has 3 swings"},
        ),
        (
            {"joints": "legs", "index": -4},
            {
                "option": "index",
                "expected": "-3 to 2",
                "problem": Pattern("^is out of range: no joint has more than 3 swings$"),
            },
        ),
        (
            {"joints": "right_thigh", "index": 1},
            {"option": "index", "expected": "-1 to 0", "problem": "is out of range: RightUpLeg has 1 swing"},
        ),
        ({"joints": "hips", "index": 0}, {"option": "index", "expected": "a joint with swings: Hips has none"}),
        (
            {"joints": "arms", "index": 0},
            {"option": "index", "expected": "a joint with swings: none of the joints has any"},
        ),
        ({"index": 1.5}, {"option": "index", "expected": "a whole number"}),
        ({"index": True}, {"option": "index", "expected": "a whole number"}),
        ({"at_s": 4.1}, {"option": "at_s", "expected": "a number from 0 to 4"}),
        ({"at_s": float("nan")}, {"option": "at_s", "expected": "a number from 0 to 4"}),
        ({"from_s": -1}, {"option": "from_s", "expected": "a number from 0 to 4"}),
        ({"to_s": "2"}, {"option": "to_s", "expected": "a number of at least 0"}),
        ({"from_s": 2, "to_s": 1}, {"option": "from_s", "expected": Hint("at most to_s=1", "at most --to-s 1")}),
        (
            {"longer_s": 1, "shorter_s": 1},
            {"option": "longer_s", "expected": Hint("less than shorter_s=1", "less than --shorter-s 1")},
        ),
        ({"shorter_s": 0}, {"option": "shorter_s", "expected": "a number above 0"}),
        ({"wider_deg": -1}, {"option": "wider_deg", "expected": "a number of at least 0"}),
        (
            {"wider_deg": 30, "narrower_deg": 20},
            {"option": "wider_deg", "expected": Hint("less than narrower_deg=20", "less than --narrower-deg 20")},
        ),
        ({"narrower_deg": 0}, {"option": "narrower_deg", "expected": "a number above 0"}),
        ({"joints": ()}, {"option": "joints", "expected": "names of joints, body parts or groups, at least one"}),
        ({"joints": 3}, {"option": "joints", "expected": "names of joints, body parts or groups"}),
    ],
)
def test_bad_queries_are_rejected(query, fields):
    with raises(OptionError, value=query[fields["option"]], **fields):
        three_swings().find(**query)


def test_an_unknown_joint_is_rejected_by_name():
    with raises(UnknownJoint, value="tail"):
        DEMO.find(["left_leg", "tail"])
