"""Figures that stand, walk, lean and kick, for tests of balance."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

import keypose as kp
from keypose.balance.body import forward_directions
from keypose.curves.edit.foot_plants import plant_feet
from keypose.kinematics import up_axis
from keypose.rotations import align_signs, conjugate, exp, log, multiply, normalise, rotate

CLIPS = ("07_05_walk", "135_07_kicking", "38_03_run-circle", "49_02_jump-hop", "49_06_cartwheel", "131_04_dance-hop")


@lru_cache
def real(data_dir, name, first=0, last=None):
    return kp.load(data_dir / "cmu120" / f"{name}.bvh")[first:last]


@lru_cache
def demo():
    return kp.demo_motion(fps=60)


def lean(motion, degrees):
    """Return the motion with the body above the hip joints leaning forward by degrees; the legs are unchanged."""
    root = motion.skeleton.roots[0]
    axis, sign = up_axis(motion.up)
    turn = exp(np.deg2rad(degrees) * np.cross(sign * np.eye(3)[axis], forward_directions(motion)))
    world = motion.world_positions()
    hips = (world[:, motion.joint("left_thigh")] + world[:, motion.joint("right_thigh")]) / 2
    rotations, translations = motion.rotations.copy(), motion.translations.copy()
    rotations[:, root] = normalise(multiply(turn, rotations[:, root]))
    translations[:, root] = hips + rotate(turn, translations[:, root] - hips)
    leant = replace(motion, rotations=rotations, translations=translations)
    return plant_feet(motion, leant, np.ones((motion.n_frames, 2), bool)).motion


def scale(motion, joint, factor):
    """Return the motion with the rotations of a joint from its mean scaled by a factor."""
    j = motion.joint(joint)
    joint_rotations = align_signs(motion.rotations[:, j])
    mean = normalise(joint_rotations.mean(axis=0))
    rotations = motion.rotations.copy()
    rotations[:, j] = normalise(multiply(mean, exp(factor * log(multiply(conjugate(mean), joint_rotations)))))
    return replace(motion, rotations=rotations)
