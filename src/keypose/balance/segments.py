"""Masses and centres of mass of body segments.

D. A. Winter, Biomechanics and Motor Control of Human Movement, table of anthropometric data after Dempster (1955).
"""

from __future__ import annotations

from typing import NamedTuple


class Segment(NamedTuple):
    """One segment of a body; limbs have two of each."""

    name: str
    mass: float  # share of the body's mass
    along: float  # centre of mass, from the proximal end (0) to the distal end (1)
    is_paired: bool


SEGMENTS = (
    Segment("head", 0.081, 1.0, False),  # with the neck: from its base to the ear canal
    Segment("trunk", 0.497, 0.5, False),  # from between the shoulders to between the hip joints
    Segment("upper_arm", 0.028, 0.436, True),
    Segment("forearm", 0.016, 0.430, True),
    Segment("hand", 0.006, 0.506, True),  # from the wrist to the knuckles
    Segment("thigh", 0.100, 0.433, True),
    Segment("shin", 0.0465, 0.433, True),
    Segment("foot", 0.0145, 0.5, True),  # from the ankle to the ball of the foot
)

# Skeletons have no ear canal: it is at this share of the way from the base of the neck to the top of the head (the
# centre of mass of head and neck in Plagenhoef et al. 1983).
EAR_ALONG = 0.55
# A forearm or hand without an end continues the bone before it, with this ratio of lengths (Winter's body segment
# lengths: upper arm 0.186, forearm 0.146, hand to the knuckles 0.054 of the height).
FOREARM_OF_UPPER_ARM, HAND_OF_FOREARM = 0.785, 0.370
