"""Keys by curve refinement: K. Matsuda, K. Kondo, "Keyframes Extraction Method for Motion Capture Data" (2004).

The "interactive sequential drawing" of the paper, for each Euler curve of amplitude A (30 fps):
1. straight sections: a range below A/100 for at least five frames; two points are kept at each end;
2. fixed frames: first and last, the points of the sections, extrema with a prominence of at least 0.05 A, and a frame
   that differs by more than A/2 from both its neighbours, with them;
3. refinement: a natural cubic spline through the keys; in each span between keys the worst frame becomes a key if it
   is off by more than the greater of 0.13 times the span's range and 0.05 A; repeated. 0.13 is the user's dial.
For each joint the union over its axes ("overlap"; fixed on any axis is fixed) is reduced: a run of adjacent keys that
are not fixed becomes its centre, then of three adjacent keys the middle one goes if it is not fixed.

Where we read the paper our way
- It calls every local extremum fixed, and so the smallest ripple of noise. Ours have a least prominence.
- It does not say what the threshold is a part of; its curves are drawn by hand. Ours is of the range of the values
  strictly between two keys, and errors up to 0.05 A are accepted everywhere.
- It does not say how long a straight section must be. Sections are taken from the left, each as long as can be and at
  least ``straight_s``, never under the four frames that its points need. All four points are fixed, or the reduction
  would bend the section again. Inside a section no extremum is a key and nothing is refined.
- A run in rule 1 ends at a fixed frame. The other reading, whole runs without any fixed frame, leaves more keys.
- A column that varies by less than 1e-9 of the greatest number of all is constant: first and last frame only.
- The printed formula of "Ratio", Del : Lap, is not what its tables hold: that is the part of the frames removed.

Keys of the whole body are the union over the joints: the method's own number. With some twenty joints that is
nearly every frame, for there is always a joint that turns. So the ladder's order matters, which the paper has not:
see ``order.ranking``. It is by distances in units of the features, so weights of joints count there; the keys of
each curve do not depend on its scale.
"""

from __future__ import annotations

import math

import numpy as np

from keypose.methods.base import Method, budget
from keypose.methods.refine.fixed import Rules
from keypose.methods.refine.joint import joint_keys
from keypose.methods.refine.order import ranking
from keypose.methods.refine.table import RefineRow, RefineTable, table_of
from keypose.model import Features, Ladder
from keypose.options import number

__all__ = ["METHOD", "RefineRow", "RefineTable", "refine", "refine_table"]

LEAST_STRAIGHT_FRAMES = 4  # two points at each end
BEYOND_ALL = 1e6  # a part of the amplitude that no difference reaches; above it products would overflow


def refine(
    features: Features,
    max_keys: int | None = None,
    *,
    threshold: float = 0.13,
    least_error: float = 0.05,
    straight_range: float = 0.01,
    straight_s: float = 5 / 30,
    prominence: float = 0.05,
    jump: float = 0.5,
) -> Ladder:
    """First and last frame, then the joints' keys and after them all other frames, most important first.

    The natural count is the number of the joints' keys together (none if ``max_keys`` is below it). The cost of n
    keys is the greatest distance from the straight line in between, over all curves, at which any frame after the
    n-th was taken. O(T D log T): each round of refinement is linear, and their number grows like log T.
    """
    rules = _rules(features, threshold, least_error, straight_range, straight_s, prominence, jump)
    most = budget(max_keys, features.n_frames, least=2)
    if features.n_frames == 1:
        return Ladder.nested("refine", 1, [0], [0.0], natural=1)
    keys = np.any([joint.keys for joint in joint_keys(features, rules)], axis=0)
    order, found_off = ranking(features.values, keys)
    undone = np.maximum.accumulate(found_off[::-1])[::-1]
    costs = np.append(undone[2:], 0.0)
    natural = int(np.count_nonzero(keys))
    return Ladder.nested(
        "refine",
        features.n_frames,
        order[:most],
        costs[: most - 1],
        least=2,
        natural=natural if natural <= most else None,
    )


def refine_table(
    features: Features,
    *,
    threshold: float = 0.13,
    least_error: float = 0.05,
    straight_range: float = 0.01,
    straight_s: float = 5 / 30,
    prominence: float = 0.05,
    jump: float = 0.5,
) -> RefineTable:
    """The paper's table: for each joint the keys of its axes, their union, what reduction leaves of it."""
    rules = _rules(features, threshold, least_error, straight_range, straight_s, prominence, jump)
    return table_of(joint_keys(features, rules))


def _rules(
    features: Features,
    threshold: float,
    least_error: float,
    straight_range: float,
    straight_s: float,
    prominence: float,
    jump: float,
) -> Rules:
    """The checked options, times in frames."""
    frames = min(number("straight_s", straight_s, least=0) * features.fps, features.n_frames + 1.0)
    return Rules(
        threshold=min(number("threshold", threshold, least=0), BEYOND_ALL),
        least_error=min(number("least_error", least_error, least=0), BEYOND_ALL),
        straight_range=min(number("straight_range", straight_range, least=0), BEYOND_ALL),
        straight_frames=max(LEAST_STRAIGHT_FRAMES, math.ceil(frames - 1e-9)),
        prominence=min(number("prominence", prominence, least=0), BEYOND_ALL),
        jump=min(number("jump", jump, least=0), BEYOND_ALL),
    )


METHOD = Method(
    name="refine",
    summary="refines a spline through each joint's extremes until it follows the curve",
    paper='K. Matsuda, K. Kondo, "Keyframes Extraction Method for Motion Capture Data", 2004',
    ladder=refine,
    recipe="euler",
    joints="body",
    options_help={
        "threshold": "the error that makes a key, as a part of the range between two keys: higher gives fewer keys",
        "least_error": "errors up to this part of a curve's amplitude never make a key",
        "straight_range": "a section is straight if it varies by less than this part of the amplitude; 0 for none",
        "straight_s": "least duration of a straight section in seconds",
        "prominence": "extremes that stand out by this part of the amplitude are always keys",
        "jump": "a frame that differs from both neighbours by more than this part of the amplitude is always a key",
    },
    has_own_count=True,
)
