"""Every kernel with hostile arguments, in a child process: a result or a Python exception, no signal and no hang."""

from __future__ import annotations

import faulthandler
import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from keypose import _core

TIMEOUT_S = 20  # for one call
MEMORY_BYTES = 6 << 30
ROUNDS = 60  # calls of each function with several hostile arguments

INTEGERS = (-(2**63), -(2**31), -1, 0, 1, 2, 7, 1000, 2**20, 2**27, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**62,
            2**63 - 1, 2**63, 2**64 - 4, 2**64 - 1, 2**64, 10**40)  # fmt: skip
FLOATS = (float("nan"), float("inf"), float("-inf"), 0.0, -1.0, 1e-320, 1e9, 1e308, -1e308)
BYTES = (b"", b"\0", b"\xff" * 3, bytes(1000), b"\xff" * 1000, b"1 2 3\n-4", b"9" * 5000)


def arrays(array: np.ndarray) -> Iterator[Any]:
    """Yield arrays of other sizes, other values and other types."""
    for axis in range(array.ndim):
        yield np.take(array, [], axis)
        yield np.take(array, [0], axis)
        yield np.repeat(array, 2, axis)
        yield np.ascontiguousarray(np.flip(array, axis))
        yield np.delete(array, -1, axis)
        for length in (2**27 + 1, 2**40, 2**56):
            shape = [0] * array.ndim
            shape[axis] = length
            if array.ndim > 1:
                yield np.zeros(shape, array.dtype)
    yield from (array[None].copy(), array.reshape(-1).copy(), array.astype(np.float16), array.tolist(), None)
    if array.dtype.kind == "f":
        values: tuple[float, ...] = (*FLOATS[:5], 1e30, *((1e200, -1e300) if array.itemsize == 8 else ()))
    elif array.dtype.kind == "b":
        values = (False, True)
    else:
        limits = np.iinfo(array.dtype)
        values = (limits.min, limits.min + 1, -1, 0, 1, 5, 10**9, limits.max - 1, limits.max)
        values = tuple(value for value in values if limits.min <= value <= limits.max)
    for value in values:
        yield np.full_like(array, value)
        changed = array.copy()
        changed.reshape(-1)[-1:] = value
        yield changed


def variants(value: Any) -> list[Any]:
    """Return hostile values in place of a valid one."""
    if isinstance(value, np.ndarray):
        return list(arrays(value))
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [*INTEGERS, None, 1.5]
    if isinstance(value, float):
        return [*FLOATS, None, "x"]
    if isinstance(value, bytes):
        return [*BYTES, None, "text"]
    if isinstance(value, list):
        return [[], *([number] for number in INTEGERS), [1] * 1000, None]
    if isinstance(value, tuple):
        tables = [(*value[:k], each, *value[k + 1 :]) for k in range(len(value)) for each in variants(value[k])]
        return [*tables, (), value[:2], None]
    others = (clip(1), clip(3), clip(9), figure(clip(1), 1), figure(clip(9), 9), frames(3, 1), frames(3, 9), None)
    return [other for other in others if other is None or type(other) is type(value)] + [object()]


def unit(*shape: int) -> np.ndarray:
    values = np.random.default_rng(3).normal(size=shape)
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def chain(joints: int) -> np.ndarray:
    return np.arange(-1, joints - 1, dtype=np.int32)


def clip_arguments(joints: int) -> dict[str, Any]:
    charts = np.zeros((joints, 14))
    charts[:, 0] = [3 + k % 2 for k in range(joints)]
    charts[:, 1] = charts[:, 5] = charts[:, 9] = charts[:, 13] = 1.0
    tracks = 3 * joints + 3
    return {
        "parents": chain(joints),
        "charts": charts,
        "moves": np.array([1] + [0] * (joints - 1), np.uint8),
        "joint_positions": np.ones((joints, 3)),
        "steps": np.full(tracks, -40, np.int32),
        "centres": np.zeros(tracks, np.int64),
        "track_priors": np.zeros(tracks, np.int32),
        "level_priors": np.zeros(11, np.int32),
    }


def clip(joints: int) -> _core.KpsClip:
    return _core.kps_clip(**clip_arguments(joints))


def figure_arguments(of: _core.KpsClip, joints: int) -> dict[str, Any]:
    ends = np.array([joints - 1], np.int32)
    return {
        "clip": of,
        "parents": chain(joints),
        "end_joints": ends,
        "end_offsets": np.ones((1, 3)),
        "mm_per_unit": 9.0,
    }


def figure(of: _core.KpsClip, joints: int) -> _core.KpsFigure:
    return _core.kps_figure(**figure_arguments(of, joints))


def frame_arguments(n_frames: int, joints: int) -> dict[str, Any]:
    moves = np.random.default_rng(1).normal(size=(n_frames, joints, 3))
    numbers = np.zeros((n_frames, 3 * joints + 3))
    return {"positions": moves, "world_rotations": unit(n_frames, joints, 4), "translations": moves, "numbers": numbers}


def frames(n_frames: int, joints: int) -> _core.KpsFrames:
    return _core.KpsFrames(**frame_arguments(n_frames, joints))


def valid_calls() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return every function with valid arguments."""
    rng = np.random.default_rng(7)
    n, joints = 20, 3
    flags = {"allowed": np.ones(n, np.uint8), "pinned": np.zeros(n, np.uint8)}
    rules = {"max_keys": 5, "sum": False, "min_gap": 1, "max_gap": 9, **flags, "threads": 2}
    motion = {
        "parents": chain(joints),
        "translations": rng.normal(size=(n, joints, 3)),
        "rotations": unit(n, joints, 4),
        "positions": rng.normal(size=(n, joints, 3)),
        "weights": np.ones(joints),
    }
    curves = {**motion, "straight": False, "mean": False}
    keys = np.array([0, 4, 11, 19], np.int32)
    tangents = {
        f"{side}_{kind}_tangents": rng.normal(size=(4, joints, width))
        for kind, width in (("rotation", 4), ("translation", 3))
        for side in ("out", "in")
    }
    plain = {
        "times": np.arange(n) / 30, "values": rng.normal(size=(2, n)), "scales": np.ones(2), "limits": np.full(2, 0.5),
        "straight": False,
    }  # fmt: skip
    kernel = clip(joints)
    residuals = np.zeros((6, 12), np.int32)
    kps = {"clip": kernel, "figure": figure(kernel, joints), "frames": frames(6, joints)}
    pose, body = kernel.write_pose(0, residuals[0]), kernel.write_body(0, 0, residuals, True)
    ends = {"pose": np.zeros(12, np.int64), "next": np.ones(12, np.int64)}
    table = (
        np.array([0, 1, 1], np.int32), np.array([0.0, 0.2, 1.0]), np.array([0.5, 0.9, 2.0]), unit(3, 3), np.ones(2, bool)
    )  # fmt: skip
    plan = np.array([0, 0, 0, 0, 0, 0, 0, 1, 0, 0] + [3, 2, 9, 5, 0, 0, 1, 1, 1, 4, 5, 3, 2, 1, 2, 1, 1, 3], np.int64)
    numbers = np.arange(40).reshape(2, 20)
    tables = {
        name: np.zeros((joints, 3), np.int32) for name in ("position_columns", "rotation_columns", "rotation_axes")
    }
    stretches = np.zeros(4, np.int32), np.array([1, 4, 8, 12], np.int32), np.array([3, 6, 10, 16], np.int32)
    return {
        name: (getattr(_core, name) if hasattr(_core, name) else getattr(kernel, name), arguments)
        for name, arguments in {
            "parse_rows": {"text": b"1 2\n3 4\n", "start": 0, "columns": 2, "expected_rows": 2, "max_rows": 9},
            "format_rows": {"values": rng.normal(size=(3, 2)), "decimals": 3},
            "poses_from_channels": {"channels": np.ones((4, 2)), **tables, "offsets": np.ones((joints, 3))},
            "forward_kinematics": {name: motion[name] for name in ("parents", "translations", "rotations")},
            "unwrap_euler": {"angles": rng.normal(size=(n, joints, 3))},
            "salient_paths": {
                "points": rng.normal(size=(n, 2)), "integrated": False, **rules, "max_distances": 50, "max_parents": 30
            },
            "table_paths": {
                "costs": rng.random((n, 9)), **{k: v for k, v in rules.items() if k != "max_gap"}, "max_parents": 30
            },
            "inbetween_paths": {**curves, **rules, "limit": 1e9, "top_only": True, "max_parents": 30},
            "inbetween_costs": {**curves, "max_gap": 7, "threads": 2},
            "inbetween_costs_within": {**curves, "max_gap": 7, "pinned": flags["pinned"], "limit": 1e9, "threads": 2},
            "chord_costs_within": {
                "points": rng.normal(size=(n, 2)), "integrated": False, "max_gap": 7, "pinned": flags["pinned"],
                "limit": 1e9, "threads": 2,
            },
            "inbetween_spans": {**curves, "keys": keys},
            "plain_costs": {**plain, "max_gap": 7, "limit": 1e9, "threads": 2},
            "plain_fewest_keys": plain,
            "plain_tangents": {**{k: plain[k] for k in ("times", "values", "straight")}, "keys": keys},
            "polish": {
                **motion, "moves": np.ones((joints, 2), np.uint8), "keys": keys, **tangents,
                "lever_mm": 50.0, "length_mm": 30.0, "power": 2.0, "limit_mm": 1.0, "rounds": 3, "threads": 2,
            },
            "swing_spans": {
                "rotations": unit(n, joints, 4), "smoothing": 3, "half_window": 4, "min_frames": 3, "rest_speed": 0.01,
                "threshold": 0.4, "cosine": False,
            },
            "swing_keys": {
                "rotations": unit(n, 1, 4), "tolerances": np.array([0.1]), "joints": stretches[0], "starts": stretches[1],
                "ends": stretches[2], "first_rotations": unit(4, 4), "rotation_vectors": unit(4, 3),
                "swing_cost": 2.0, "max_span": 30,
            },
            "lossless_encode": {"plan": plan, "numbers": numbers},
            "lossless_decode": {"plan": plan, "bytes": _core.lossless_encode(plan, numbers), "frames": 20},
            "format_columns": {"values": rng.normal(size=(3, 2)), "decimals": np.array([-1, 4], np.int32)},
            "robust_fits": {"features": rng.normal(size=(9, 3)), "target": rng.normal(size=9), "counts": [1, 2, 3]},
            "error_bits": {"errors": np.arange(9) - 4, "first": np.array([1] + [0] * 8, np.uint8)},
            "IntegerWriter": {},
            "IntegerReader": {"bytes": b"12345"},
            "kps_clip": clip_arguments(joints),
            "kps_figure": figure_arguments(kernel, joints),
            "KpsFrames": frame_arguments(6, joints),
            "kps_curvatures": kps,
            "kps_choose_pose": {**kps, "tolerance_mm": 2.0},
            "kps_choose_body": {**kps, **ends, "tolerance_mm": 2.0, "order": 0, "tolerance_share": 0.6, "grain": 0},
            "kps_frame_levels": {"frames": 9, "next": True, "order": 0},
            "decode_pose": {"bytes": pose},
            "decode_body": {"frames": 6, "bytes": body, **ends},
            "poses": {"numbers": np.ones((6, 12), np.int64)},
            "write_pose": {"grain": 0, "residuals": residuals[0]},
            "write_body": {"order": 1, "grain": 0, "residuals": residuals, "next": False},
            "nearest_windows": {
                "query": rng.random((5, 3), np.float32), "variants": np.array([0, 2, 5], np.int32),
                "vectors": rng.random((9, 3), np.float32), "squares": np.ones(9, np.float32),
                "weights": np.ones(9, np.float32), "bounds": np.array([0, 4, 9], np.int32),
                "clip_indices": np.array([1, 0], np.int64),
            },
            "nearest_match": {"rows": rng.random((9, 3)), "pattern": rng.random((2, 3)), "first": 1, "last": 7},
            "overlap_swings": {
                "query": table, "query_start_s": 0.0, "query_end_s": 2.0, "other": table, "other_start_s": 0.0,
                "other_end_s": 3.0, "rate": 20.0, "min_cosine": 0.5, "by_axes": True,
            },
        }.items()
    }  # fmt: skip


def hostile_calls(name: str, arguments: dict[str, Any], rounds: int) -> Iterator[dict[str, Any]]:
    """Yield arguments with one hostile value each, then with several."""
    choices = {option: variants(value) for option, value in arguments.items()}
    for option, values in choices.items():
        yield from ({**arguments, option: value} for value in values)
    dice = random.Random(name)
    for _ in range(rounds if choices else 0):
        options = dice.sample(sorted(choices), min(len(choices), dice.randint(2, 4)))
        yield {**arguments, **{option: dice.choice(choices[option]) for option in options}}


def call_streams() -> None:
    """Call the methods of the coder of integers."""
    for kind in INTEGERS:
        for number in INTEGERS:
            writer = _core.IntegerWriter()
            for method, arguments in ((writer.write, (kind, number)), (writer.finish, ()), (writer.write, (0, 5))):
                attempt(f"IntegerWriter {method.__name__} {arguments}", method, arguments, {})
        for data in BYTES:
            reader = _core.IntegerReader(data)
            for method, arguments in ((reader.read, (kind,)), (reader.finish, ()), (reader.read, (0,))):
                attempt(f"IntegerReader {method.__name__} {arguments}", method, arguments, {})
    for uninitialized in (_core.KpsClip, _core.KpsFigure, _core.KpsFrames):
        attempt(f"{uninitialized}", lambda kind=uninitialized: _core.kps_curvatures(*[kind.__new__(kind)] * 3), (), {})


def attempt(label: str, function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    os.write(1, f"{label}\n".encode())
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    try:
        function(*arguments, **options)
    except Exception as error:
        assert str(error) or isinstance(error, MemoryError), repr(error)


def describe(value: Any) -> str:
    return f"{value.dtype}{value.shape}{value.reshape(-1)[-3:]}" if isinstance(value, np.ndarray) else repr(value)[:60]


def main(rounds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, (function, arguments) in valid_calls().items():
        function(
            **{option: value.copy() if isinstance(value, np.ndarray) else value for option, value in arguments.items()}
        )
        for options in hostile_calls(name, arguments, rounds):
            changed = {option: describe(value) for option, value in options.items() if value is not arguments[option]}
            attempt(f"{name} {changed}", function, (), options)
    call_streams()
    print("done")


def test_every_kernel_refuses_hostile_arguments_or_returns():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
    result = subprocess.run(
        [sys.executable, __file__, str(ROUNDS)], capture_output=True, text=True, env=environment, timeout=600
    )
    last = result.stdout.splitlines()[-1:] or [""]
    assert (result.returncode, last[0]) == (0, "done"), f"{last[0]}\n{result.stderr[-3000:]}"


def test_every_kernel_is_called():
    called = {*valid_calls(), "KpsClip", "KpsFigure"}
    kernels = {name for name in dir(_core) if not name.startswith("_")}
    methods = {name for name in dir(_core.KpsClip) if not name.startswith("_")} - {"tracks"}
    assert called == kernels | methods


if __name__ == "__main__":
    main(int(sys.argv[1]))
