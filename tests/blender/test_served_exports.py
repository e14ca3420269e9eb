"""What needs Blender, taken away over HTTP and read back: the poses are those of the clip, of its keys, of an edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import keypose as kp
from keypose.formats.figure.size import metres_per_unit
from serving import serving

pytestmark = [pytest.mark.blender, pytest.mark.data]

TOLERANCE_MM = 0.1  # on a figure of 1.7 m
FRAMES = [0, 20, 45, 70, 99]
TURN = {"op": "rotate", "frame": 45, "joint": "head", "euler_degrees": [0, 40, 0]}
DRAFT: dict[str, Any] = {"kind": "keys", "frames": FRAMES, "steps": [TURN]}

Take = Callable[..., Path]


@pytest.fixture(scope="module")
def walk(data_dir: Path) -> kp.Motion:
    return kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)[100:200]


@pytest.fixture(scope="module")
def take(walk: kp.Motion, blender_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Take]:
    """Takes the clip away; a server that was told where Blender is has it."""
    folder = tmp_path_factory.mktemp("served")
    with kp.Library(folder / "clips.db") as library:
        clip = library.add(walk, name="walk").hash
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
        with serving(folder / "clips.db") as served:
            headers = {"Authorization": f"Bearer {served.token}"}
            with httpx.Client(base_url=served.origin, headers=headers, timeout=180.0, trust_env=False) as client:
                offered = {row["suffix"]: row["needs"] for row in client.get("/api/library").json()["formats"]}
                assert offered[".fbx"] is None and offered[".blend"] is None

                def taken(suffix: str, **told: object) -> Path:
                    answer = client.post(f"/api/clips/{clip}/export", json={"format": suffix, **told})
                    assert answer.status_code == 200, answer.text
                    path = folder / f"walk{suffix}"
                    path.write_bytes(answer.content)
                    return path

                yield taken


@pytest.fixture(autouse=True)
def interpreter(blender_python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


def edited(walk: kp.Motion) -> kp.KeyedMotion:
    by_hand = kp.edit(kp.unbake(walk, FRAMES))
    by_hand.rotate(45, "head", euler_degrees=(0, 40, 0))
    return by_hand.keyed


def off_mm(found: kp.Motion, wanted: kp.Motion) -> float:
    assert (found.n_frames, found.fps, found.up) == (wanted.n_frames, wanted.fps, wanted.up)
    order = [found.skeleton.names.index(name) for name in wanted.skeleton.names]
    places = found.world_positions()[:, order] * (metres_per_unit(found) / metres_per_unit(wanted))
    return float(np.linalg.norm(places - wanted.world_positions(), axis=2).max() * wanted.mm_per_unit)


@pytest.mark.parametrize("suffix", [".fbx", ".blend"])
def test_a_capture_is_taken_away(take: Take, walk: kp.Motion, suffix: str) -> None:
    assert off_mm(kp.load(take(suffix), reference_pose="keep"), walk) < TOLERANCE_MM


@pytest.mark.parametrize("suffix", [".fbx", ".blend"])
def test_an_edit_is_taken_away(take: Take, walk: kp.Motion, suffix: str) -> None:
    found = kp.load(take(suffix, draft=DRAFT), reference_pose="keep")
    assert off_mm(found, edited(walk).sample()) < TOLERANCE_MM < off_mm(found, walk)


def test_what_is_seen_of_the_detail_is_in_an_fbx(take: Take, walk: kp.Motion) -> None:
    found = kp.load(take(".fbx", draft={**DRAFT, "residual": 0.5}), reference_pose="keep")
    assert off_mm(found, edited(walk).sample(0.5)) < TOLERANCE_MM


def test_a_blend_keeps_keys_and_detail(take: Take, walk: kp.Motion) -> None:
    found, wanted = kp.load_keyed(take(".blend", draft={**DRAFT, "residual": 0.5})), edited(walk)
    assert found.keys.tolist() == FRAMES
    assert np.array_equal(found.rotations.values, wanted.rotations.values)
    assert found.residual is not None and wanted.residual is not None
    assert np.array_equal(found.residual.turns, wanted.residual.turns)
