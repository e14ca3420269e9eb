from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keypose import rotations as rot
from reference import naive

ORDERS = rot.ORDERS
angles = st.floats(-720, 720, allow_nan=False)


def quaternions(n: int, seed: int = 0) -> np.ndarray:
    return rot.normalise(np.random.default_rng(seed).normal(size=(n, 4)))


unit = arrays(np.float64, 4, elements=st.floats(-1, 1)).filter(lambda q: np.linalg.norm(q) > 0.1).map(rot.normalise)


@given(unit, unit, unit)
def test_group_axioms(a, b, c):
    identity = np.array(rot.IDENTITY)
    np.testing.assert_allclose(rot.multiply(rot.multiply(a, b), c), rot.multiply(a, rot.multiply(b, c)), atol=1e-12)
    np.testing.assert_allclose(rot.multiply(a, rot.conjugate(a)), identity, atol=1e-12)
    np.testing.assert_allclose(rot.multiply(a, identity), a, atol=0)
    assert abs(np.linalg.norm(rot.multiply(a, b)) - 1) < 1e-12


@given(unit, unit)
def test_product_is_the_product_of_matrices(a, b):
    expected = naive.quaternion_matrix(a) @ naive.quaternion_matrix(b)
    np.testing.assert_allclose(naive.quaternion_matrix(rot.multiply(a, b)), expected, atol=1e-12)
    np.testing.assert_allclose(rot.to_matrix(a), naive.quaternion_matrix(a), atol=1e-12)
    v = np.array([0.3, -2.0, 5.0])
    np.testing.assert_allclose(rot.rotate(a, v), naive.quaternion_matrix(a) @ v, atol=1e-11)


@given(unit)
def test_matrix_and_back(q):
    assert rot.angle_between(rot.from_matrix(rot.to_matrix(q)), q) < 1e-7


@given(unit)
def test_log_and_exp_undo_each_other(q):
    assert rot.angle_between(rot.exp(rot.log(q)), q) < 1e-9
    assert np.linalg.norm(rot.log(q)) <= np.pi + 1e-12


def test_log_of_tiny_rotations_keeps_its_digits():
    v = np.array([1e-9, -2e-10, 3e-12])
    np.testing.assert_allclose(rot.log(rot.exp(v)), v, rtol=1e-9)


@given(unit, unit)
def test_slerp_goes_the_short_way_at_constant_speed(a, b):
    angle = rot.angle_between(a, b)
    if angle > 3.1:  # nearly opposite: the direction is not determined
        return
    part = rot.slerp(a, b, np.array([0.25]))
    assert abs(rot.angle_between(a, part) - 0.25 * angle) < 1e-7
    assert rot.angle_between(rot.slerp(a, b, np.array([1.0])), b) < 1e-7


@pytest.mark.parametrize("order", ORDERS)
@given(st.tuples(angles, angles, angles))
def test_euler_is_the_product_of_axis_rotations(order, degrees):
    q = rot.from_euler(np.deg2rad(np.array(degrees)), order)
    np.testing.assert_allclose(rot.to_matrix(q), naive.euler_matrix(degrees, order), atol=1e-10)


@pytest.mark.parametrize("order", ORDERS)
@given(unit)
def test_euler_and_back(order, q):
    back = rot.from_euler(rot.to_euler(q, order), order)
    assert np.rad2deg(rot.angle_between(back, q)) < 1e-5


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("middle", [90.0, -90.0, 90 - 1e-6, -90 + 1e-9, 89.9999])
def test_euler_and_back_at_gimbal_lock(order, middle):
    q = rot.from_euler(np.deg2rad(np.array([33.0, middle, -71.0])), order)
    back = rot.from_euler(rot.to_euler(q, order), order)
    assert np.rad2deg(rot.angle_between(back, q)) < 2e-5


def test_unwrapped_curves_match_the_twin_and_describe_the_same_rotations():
    rng = np.random.default_rng(1)
    walk = np.cumsum(rng.normal(scale=0.4, size=(60, 3, 3)), axis=0)
    wrapped = np.stack([rot.to_euler(rot.from_euler(walk[:, j], "ZYX"), "ZYX") for j in range(3)], axis=1)
    curves = rot.unwrap_euler(wrapped)
    np.testing.assert_allclose(curves, naive.unwrap_euler(wrapped), atol=1e-9)
    same = rot.angle_between(rot.from_euler(curves, "ZYX"), rot.from_euler(wrapped, "ZYX"))
    assert same.max() < 1e-7
    assert np.abs(np.diff(curves, axis=0)).max() < np.abs(np.diff(wrapped, axis=0)).max()


def test_sign_continuity():
    q = np.repeat(quaternions(1), 6, axis=0) * np.array([1, -1, -1, 1, -1, 1.0])[:, None]
    fixed = rot.align_signs(q[:, None])[:, 0]
    assert (np.sum(fixed[1:] * fixed[:-1], axis=1) > 0).all()
    assert len(rot.align_signs(q[:1, None])) == 1


def test_zero_quaternion_becomes_the_identity():
    assert rot.normalise(np.zeros((2, 4))).tolist() == [list(rot.IDENTITY)] * 2


def test_twist_is_the_angle_that_is_added_by_rotating_about_the_axis():
    rotations, axes = quaternions(200, seed=3), quaternions(200, seed=4)[:, 1:]
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    angles = np.linspace(-3.0, 3.0, 200)
    before = rot.twist_angle(rotations, axes)
    after = rot.twist_angle(rot.multiply(rotations, rot.exp(angles[:, None] * axes)), axes)
    difference = np.remainder(after - before - angles + np.pi, 2 * np.pi) - np.pi
    np.testing.assert_allclose(difference, 0.0, atol=1e-9)
    np.testing.assert_allclose(rot.twist_angle(rot.exp(angles[:, None] * axes), axes), angles, atol=1e-12)
    np.testing.assert_allclose(rot.twist_angle(-rotations, axes), before, atol=1e-9)
    # what is left after the twist rotates about an axis perpendicular to it
    rest = rot.multiply(rotations, rot.exp(-before[:, None] * axes))
    np.testing.assert_allclose((rest[:, 1:] * axes).sum(axis=1), 0.0, atol=1e-9)
