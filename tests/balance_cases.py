"""Figures that stand, walk, lean and kick, for tests of balance."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

import keypose as kp
from keypose.balance.body import forwards
from keypose.inbetween.editing.planting import plant_feet
from keypose.kinematics import up_axis
from keypose.rotations import conjugate, exp, log, multiply, normalise, rotate, sign_continuous

CLIPS = ("07_05_walk", "135_07_kicking", "38_03_run-circle", "49_02_jump-hop", "49_06_cartwheel", "131_04_dance-hop")


@lru_cache
def real(data_dir, name, first=0, last=None):
    return kp.load(data_dir / "cmu120" / f"{name}.bvh")[first:last]


@lru_cache
def demo():
    return kp.demo_motion(fps=60)


def leaning(motion, degrees):
    """The body above the hip joints leans forwards by so many degrees; the legs stay as they are."""
    root = motion.skeleton.roots[0]
    axis, sign = up_axis(motion.up)
    turn = exp(np.deg2rad(degrees) * np.cross(sign * np.eye(3)[axis], forwards(motion)))
    world = motion.world_positions()
    hips = (world[:, motion.joint("left_thigh")] + world[:, motion.joint("right_thigh")]) / 2
    rotations, translations = motion.rotations.copy(), motion.translations.copy()
    rotations[:, root] = normalise(multiply(turn, rotations[:, root]))
    translations[:, root] = hips + rotate(turn, translations[:, root] - hips)
    leant = replace(motion, rotations=rotations, translations=translations)
    return plant_feet(motion, leant, np.ones((motion.n_frames, 2), bool)).motion


def scaled(motion, joint, factor):
    """A joint whose turns from its mean are larger by a factor."""
    j = motion.joint(joint)
    turns = sign_continuous(motion.rotations[:, j])
    mean = normalise(turns.mean(axis=0))
    rotations = motion.rotations.copy()
    rotations[:, j] = normalise(multiply(mean, exp(factor * log(multiply(conjugate(mean), turns)))))
    return replace(motion, rotations=rotations)
