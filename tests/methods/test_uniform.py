"""Equal distances in time."""

from __future__ import annotations

import numpy as np
import pytest

from keypose.methods.uniform import uniform
from keypose.model import Features


def test_as_even_as_whole_frames_allow():
    ladder = uniform(Features(np.zeros((11, 1)), 30))
    assert ladder.at(2).frames.tolist() == [0, 10]
    assert ladder.at(3).frames.tolist() == [0, 5, 10]
    assert ladder.at(4).frames.tolist() == [0, 3, 6, 10]
    assert ladder.at(11).frames.tolist() == list(range(11))
    assert [ladder.costs[n] for n in (2, 3, 4, 6, 11)] == [10, 5, 4, 2, 1]


@pytest.mark.parametrize("frames", [2, 3, 17, 100, 1001])
def test_gaps_differ_by_one_frame_at_most(frames):
    for selection in uniform(Features(np.zeros((frames, 1)), 30)):
        gaps = np.diff(selection.frames)
        assert gaps.max() - gaps.min() <= 1 and selection.frames[-1] == frames - 1


def test_long_takes_go_as_far_as_memory_should():
    assert uniform(Features(np.zeros((100_000, 1)), 30)).counts[-1] == 4000
