"""Exports that need Blender over HTTP, read back: the poses of the clip, of its keys, of an edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import keypose as kp
from keypose.formats.orientation import metres_per_unit
from support.server_process import run_server

pytestmark = [pytest.mark.blender, pytest.mark.data, pytest.mark.one_python]

TOLERANCE_MM = 0.1  # on a figure of 1.7 m
FRAMES = [0, 20, 45, 70, 99]
ROTATION = {"op": "rotate", "frame": 45, "joint": "head", "euler_degrees": [0, 40, 0]}
DRAFT: dict[str, Any] = {"kind": "keys", "frames": FRAMES, "steps": [ROTATION]}

Export = Callable[..., Path]


@pytest.fixture(scope="module")
def walk(data_dir: Path) -> kp.Motion:
    return kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)[100:200]


@pytest.fixture(scope="module")
def export(walk: kp.Motion, blender_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Export]:
    """Return a function that exports the clip from a server with KEYPOSE_BLENDER_PYTHON set."""
    folder = tmp_path_factory.mktemp("served")
    with kp.Library(folder / "clips.db") as library:
        clip = library.add(walk, name="walk").hash
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
        with run_server(folder / "clips.db") as served:
            headers = {"Authorization": f"Bearer {served.token}"}
            with httpx.Client(base_url=served.origin, headers=headers, timeout=180.0, trust_env=False) as client:
                missing = {
                    row["suffix"]: row["install_command"] for row in client.get("/api/library").json()["formats"]
                }
                assert missing[".fbx"] is None and missing[".blend"] is None

                def post_export(suffix: str, **options: object) -> Path:
                    answer = client.post(f"/api/clips/{clip}/export", json={"format": suffix, **options})
                    assert answer.status_code == 200, answer.text
                    path = folder / f"walk{suffix}"
                    path.write_bytes(answer.content)
                    return path

                yield post_export


@pytest.fixture(autouse=True)
def interpreter(blender_python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


def edit_keys(walk: kp.Motion) -> kp.KeyedMotion:
    by_hand = kp.edit(kp.unbake(walk, FRAMES))
    by_hand.rotate(45, "head", euler_degrees=(0, 40, 0))
    return by_hand.keyed


def max_error_mm(result: kp.Motion, expected: kp.Motion) -> float:
    assert (result.n_frames, result.fps, result.up) == (expected.n_frames, expected.fps, expected.up)
    order = [result.skeleton.names.index(name) for name in expected.skeleton.names]
    positions = result.world_positions()[:, order] * (metres_per_unit(result) / metres_per_unit(expected))
    return float(np.linalg.norm(positions - expected.world_positions(), axis=2).max() * expected.mm_per_unit)


@pytest.mark.parametrize("suffix", [".fbx", ".blend"])
def test_export_of_a_capture(export: Export, walk: kp.Motion, suffix: str) -> None:
    assert max_error_mm(kp.load(export(suffix), reference_pose="keep"), walk) < TOLERANCE_MM


@pytest.mark.parametrize("suffix", [".fbx", ".blend"])
def test_export_of_an_edit(export: Export, walk: kp.Motion, suffix: str) -> None:
    result = kp.load(export(suffix, draft=DRAFT), reference_pose="keep")
    assert max_error_mm(result, edit_keys(walk).sample()) < TOLERANCE_MM < max_error_mm(result, walk)


def test_fbx_export_includes_the_residual_share(export: Export, walk: kp.Motion) -> None:
    result = kp.load(export(".fbx", draft={**DRAFT, "residual": 0.5}), reference_pose="keep")
    assert max_error_mm(result, edit_keys(walk).sample(0.5)) < TOLERANCE_MM


def test_blend_export_keeps_keys_and_residual(export: Export, walk: kp.Motion) -> None:
    result, expected = kp.load_keyed(export(".blend", draft={**DRAFT, "residual": 0.5})), edit_keys(walk)
    assert result.keys.tolist() == FRAMES
    assert np.array_equal(result.rotations.values, expected.rotations.values)
    assert result.residual is not None and expected.residual is not None
    assert np.array_equal(result.residual.rotations, expected.residual.rotations)
