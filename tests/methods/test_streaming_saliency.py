"""Streaming saliency: its slow twin, bounded delay and memory, and the difference from the whole-clip method."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.features import compute_features
from keypose.methods.saliency import METHOD, StreamingSaliency, saliency
from keypose.methods.saliency.streaming import HISTORY_S, STEP_S
from reference import naive
from support.errors import raises

CLIPS = ("02_07", "07_05", "09_01", "131_04", "135_07", "38_03", "49_02", "49_06", "86_01")


def stream_all(stream, values):
    """Return all keys, and the largest delay of one reported before the end."""
    keys, delay = [], 0
    for now, frame in enumerate(values):
        new = stream.push(frame)
        delay = max([delay, *(now - key for key in new)])
        keys.extend(new)
    keys.extend(stream.close())
    assert all(type(key) is int for key in keys)
    assert keys == sorted(set(keys))
    return keys, delay


def body(motion):
    return compute_features(motion, METHOD.feature_kind, METHOD.joints)


@pytest.mark.parametrize("seed", range(24))
def test_the_same_as_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(2, 260)), int(rng.integers(1, 4))
    values = rng.normal(size=(n, width)).cumsum(axis=0)
    if seed % 2:  # many flat tops
        values = np.repeat(values, rng.integers(1, 4, size=n), axis=0)[:n]
    sigma, gap = float(rng.choice([1.0, 2.5, 4.0])), int(rng.integers(1, 15))
    lookahead = int(rng.integers(1, 40))
    rank, extremes = ("joint", "body")[seed % 4 // 2], ("flat", "strict")[seed % 8 // 4]
    stream = StreamingSaliency(
        width,
        120.0,
        sigma_s=sigma / 120,
        min_gap_s=gap / 120,
        rank=rank,
        extremes=extremes,
        lookahead_s=lookahead / 120,
    )
    step, history = round(120 * STEP_S), round(120 * HISTORY_S)
    expected = naive.streaming_saliency_keys(values, sigma, 2.0, gap, rank, extremes, lookahead, step, history)
    assert stream_all(stream, values)[0] == expected


@pytest.mark.parametrize("keys_per_cluster", ["one", "all"])
@pytest.mark.parametrize("rank", ["joint", "body"])
def test_with_all_frames_ahead_it_is_the_whole_clip_method(rank, keys_per_cluster):
    features = body(kp.demo_motion())
    options = {"rank": rank, "keys_per_cluster": keys_per_cluster}
    stream = StreamingSaliency(features.columns, features.fps, lookahead_s=1e6, **options)
    ladder = saliency(features, **options)
    assert stream_all(stream, features.values)[0] == ladder.at(ladder.natural).frames.tolist()


# Bounded delay and memory


@pytest.mark.parametrize("seed", range(6))
def test_no_key_is_reported_later_than_promised(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(1500, 5)).cumsum(axis=0)
    if seed % 2:
        values = values.cumsum(axis=0)  # slow curves, long clusters
    stream = StreamingSaliency(5, 120.0)
    keys, delay = stream_all(stream, values)
    assert len(keys) >= 9
    assert 60 < delay <= stream.max_delay_frames == 93
    assert keys[0] == 0
    assert keys[-1] == 1499


@pytest.mark.parametrize(("fps", "delay_frames"), [(120.0, 93), (60.0, 47), (30.0, 24), (240.0, 186), (1.0, 3)])
def test_the_delay_is_a_time(fps, delay_frames):
    assert StreamingSaliency(3, fps).max_delay_frames == delay_frames


@pytest.mark.one_python
def test_memory_does_not_grow_with_the_take():
    rng = np.random.default_rng(0)
    stream = StreamingSaliency(4, 120.0)
    steps = rng.normal(size=(100_000, 4))
    values = (steps.cumsum(axis=0) % 50.0) * np.linspace(1.0, 3.0, 100_000)[:, None]
    early = late = 0  # bytes, maximum within a few blocks
    for n, frame in enumerate(values, start=1):
        stream.push(frame)
        if 840 < n <= 1000:
            early = max(early, len(pickle.dumps(stream)))
        elif n > 99_840:
            late = max(late, len(pickle.dumps(stream)))
    assert 0 < late < 1.1 * early
    assert late < 20_000


def agreement(features, keys):
    """Return the number of keys that streaming and the whole clip share within two frames at 120 fps, and of each."""
    ladder = saliency(features)
    full_keys = ladder.at(ladder.natural).frames
    near = 2 / 120 * features.fps
    return np.array([sum(np.abs(full_keys - key).min() <= near for key in keys), len(keys), len(full_keys)])


@pytest.mark.data
def test_real_clips_keep_the_delay_and_come_near_the_whole_clip_method(data_dir):
    """Of the keys of either at least nine tenths are shared, on each clip seven tenths."""
    total = np.zeros(3)
    for name in CLIPS:
        features = body(kp.load(next((data_dir / "cmu120").glob(f"{name}*.bvh"))))
        stream = StreamingSaliency(features.columns, features.fps)
        keys, delay = stream_all(stream, features.values)
        assert delay <= stream.max_delay_frames <= 93
        shared, n_streamed, n_whole = agreement(features, keys)
        assert shared >= 0.7 * max(n_streamed, n_whole), name
        total += shared, n_streamed, n_whole
    assert total[0] >= 0.9 * max(total[1:])


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_own_motion_comes_near_the_whole_clip_method(fps):
    features = body(kp.demo_motion(fps=fps))
    keys, _ = stream_all(StreamingSaliency(features.columns, features.fps), features.values)
    shared, n_streamed, n_whole = agreement(features, keys)
    assert shared >= 0.8 * max(n_streamed, n_whole)


def test_a_longer_lookahead_agrees_better():
    features = body(kp.demo_motion(fps=120.0))
    shares = []
    for lookahead_s in (0.1, 0.25, 65 / 120):
        stream = StreamingSaliency(features.columns, features.fps, lookahead_s=lookahead_s)
        keys, delay = stream_all(stream, features.values)
        assert delay <= stream.max_delay_frames == round(120 * lookahead_s) + 28
        shared, n_streamed, n_whole = agreement(features, keys)
        shares.append(shared / max(n_streamed, n_whole))
    assert shares == sorted(set(shares))


# The ends of a take


def test_short_takes():
    assert StreamingSaliency(1, 120.0).close() == ()
    for n in (1, 2, 3, 30):
        stream = StreamingSaliency(1, 120.0)
        keys, _ = stream_all(stream, np.zeros((n, 1)))
        assert keys == sorted({0, n - 1})
        assert stream.n_frames == n


def test_the_first_frame_is_reported_at_once_and_closing_twice_is_harmless():
    stream = StreamingSaliency(2, 120.0)
    assert stream.push([1.0, 2.0]) == (0,)
    assert stream.push((1.0, 2.0)) == ()
    assert stream.close() == (1,)
    assert stream.close() == ()
    with raises(OptionError, hint="a new take needs a new stream"):
        stream.push([1.0, 2.0])


def test_a_constant_take_far_from_zero_has_no_keys_of_its_own():
    keys, _ = stream_all(StreamingSaliency(2, 120.0), np.full((500, 2), 1e6 / 3))
    assert keys == [0, 499]


# Errors


@pytest.mark.parametrize(
    ("bad", "fields"),
    [
        ([1.0, float("nan"), 0.0], {"problem": "nan at index (1,)", "expected": "finite numbers up to 1e+15"}),
        ([1.0, float("inf"), 0.0], {"problem": "inf at index (1,)", "expected": "finite numbers up to 1e+15"}),
        ([1.0, 2.0], {"problem": "shape (2,)", "expected": "(3)"}),
        ([[1.0, 2.0, 3.0]], {"problem": "shape (1, 3)", "expected": "(3)"}),
        (None, {"problem": "shape ()", "expected": "(3)"}),
        (["a", "b", "c"], {"problem": "not numbers (<U1)"}),
        ([1j, 0, 0], {"problem": "complex or masked numbers", "expected": "plain ones"}),
    ],
)
def test_a_bad_frame_is_rejected_and_changes_nothing(bad, fields):
    values = np.random.default_rng(2).normal(size=(400, 3)).cumsum(axis=0)
    expected, _ = stream_all(StreamingSaliency(3, 120.0), values)
    stream = StreamingSaliency(3, 120.0)
    keys = [key for frame in values[:150] for key in stream.push(frame)]
    with raises(OptionError, option="frame 150", **fields):
        stream.push(bad)
    keys += [key for frame in values[150:] for key in stream.push(frame)]
    assert keys + list(stream.close()) == expected


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        (0, {}, "a number from 1 to 1000000 or names (joint, channel)"),
        ((), {}, "a number from 1 to 1000000 or names (joint, channel)"),
        ("abc", {}, "a number from 1 to 1000000 or names (joint, channel)"),
        ([1, 2], {}, "a number from 1 to 1000000 or names (joint, channel)"),
        (2, {"fps": 0}, "a number above 0"),
        (2, {"lookahead_s": 0}, "a number above 0"),
        (2, {"period": 0}, "a number of at least 1e-09"),
        (2, {"rank": "both"}, "one of auto, joint, body"),
    ],
)
def test_bad_option_errors_name_the_valid_range(columns, options, expected):
    option, value = next(iter(options.items()), ("columns", columns))
    with raises(OptionError, option=option, value=value, expected=expected):
        StreamingSaliency(columns, **{"fps": 120.0, **options})


def test_options_follow_the_columns():
    values = np.random.default_rng(9).normal(size=(900, 3)).cumsum(axis=0)
    named_columns = [("hip", "x"), ("hip", "y"), ("hip", "z")]
    by_name, by_choice, apart = (
        stream_all(StreamingSaliency(columns, 120.0, rank=rank), values)[0]
        for columns, rank in ((named_columns, "auto"), (3, "joint"), (3, "auto"))
    )
    assert by_name == by_choice != apart


def test_wrapped_angles_are_unwrapped_on_request():
    t = np.arange(900) / 120
    angles = np.stack((200 * np.sin(2 * t), 150 * t), axis=1)  # degrees
    wrapped = (angles + 180) % 360 - 180
    assert np.abs(np.diff(wrapped, axis=0)).max() > 300
    expected, _ = stream_all(StreamingSaliency(2, 120.0), angles)
    assert stream_all(StreamingSaliency(2, 120.0, period=360.0), wrapped)[0] == expected
    assert stream_all(StreamingSaliency(2, 120.0), wrapped)[0] != expected


def test_it_does_not_keep_the_frames_of_the_caller():
    values = np.random.default_rng(3).normal(size=(400, 2)).cumsum(axis=0)
    expected, _ = stream_all(StreamingSaliency(2, 120.0), values)
    stream, frame, keys = StreamingSaliency(2, 120.0), np.zeros(2), []
    for row in values:
        frame[:] = row
        keys += stream.push(frame)
    assert keys + list(stream.close()) == expected


def test_the_options_are_those_of_the_whole_clip_method():
    streaming = inspect.signature(StreamingSaliency).parameters
    assert {name: streaming[name].default for name in METHOD.options} == METHOD.options
