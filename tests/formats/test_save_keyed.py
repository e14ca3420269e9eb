"""Keyed motions in formats without curves: every frame, and the keys as metadata or sidecar."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats import FORMATS, writable_suffixes
from support.errors import Pattern, raises
from support.keyed_motions import CASES, bits


@pytest.fixture(scope="module")
def keyed() -> kp.KeyedMotion:
    return kp.unbake(kp.demo_motion(fps=30)[:60], [3, 10, 31, 59])


@pytest.mark.parametrize("suffix", [s for s in writable_suffixes() if not s.startswith((".fbx", ".blend"))])
def test_every_format_shows_the_same_frames(keyed, suffix, tmp_path):
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="writing USD needs usd-core")
    kp.save(keyed, tmp_path / f"x{suffix}")
    motion = kp.load(tmp_path / f"x{suffix}")
    assert motion.n_frames == keyed.n_frames and motion.fps == pytest.approx(keyed.fps)
    np.testing.assert_allclose(motion.world_positions(), keyed.sample().world_positions(), atol=2e-5)


@pytest.mark.parametrize("suffix", [".bvh", ".bvh.gz", ".BVH"])
def test_the_keys_are_in_a_sidecar_of_a_bvh(keyed, suffix, tmp_path):
    path = tmp_path / f"walk{suffix}"
    kp.save(keyed, path)
    sidecar = tmp_path / ("walk.BVH.keys.json" if suffix == ".BVH" else "walk.bvh.keys.json")
    assert sorted(tmp_path.iterdir()) == sorted((path, sidecar))
    assert bits(kp.load_keyed(sidecar)) == bits(keyed)
    text = gzip.decompress(path.read_bytes()) if suffix.endswith(".gz") else path.read_bytes()
    kp.save(keyed.sample(), tmp_path / "dense.bvh")
    assert text == (tmp_path / "dense.bvh").read_bytes()  # nothing in it that another reader would stumble over


def test_a_dense_bvh_has_no_sidecar(keyed, tmp_path):
    kp.save(keyed.sample(), tmp_path / "walk.bvh")
    assert [path.name for path in tmp_path.iterdir()] == ["walk.bvh"]


def test_keys_that_were_saved_under_the_same_name_stay(keyed, tmp_path):
    kp.save(CASES["cubic"], tmp_path / "walk.keys.json")
    kp.save(keyed, tmp_path / "walk.bvh")
    assert bits(kp.load_keyed(tmp_path / "walk.keys.json")) == bits(CASES["cubic"])


def test_the_error_about_a_bvh_names_its_sidecar(keyed, tmp_path):
    kp.save(keyed.sample(), tmp_path / "walk.bvh")
    with raises(
        kp.FormatError,
        code="missing_data",
        expected="one of .keys.json, .kps, .glb, .gltf, .blend",
        hint=Pattern("kp.unbake finds keys for them$"),
    ):
        kp.load_keyed(tmp_path / "walk.bvh")
    kp.save(keyed, tmp_path / "walk.bvh")
    with raises(
        kp.FormatError,
        code="missing_data",
        expected="one of .keys.json, .kps, .glb, .gltf, .blend",
        hint=Pattern("its keys are in walk.bvh.keys.json$"),
    ):
        kp.load_keyed(tmp_path / "walk.bvh")


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
@pytest.mark.parametrize("first_frame", [0, -7])
def test_usd_notes_the_keys_as_time_codes(keyed, suffix, first_frame, tmp_path):
    sdf = pytest.importorskip("pxr.Sdf", reason="writing USD needs usd-core")
    keyed = replace(keyed, first_frame=first_frame, extremes=np.array([True, False, True, True]))
    kp.save(keyed, tmp_path / f"x{suffix}")
    layer = sdf.Layer.FindOrOpen(str(tmp_path / f"x{suffix}"))
    notes = layer.customLayerData["keypose"]
    assert list(notes["keys"]) == (keyed.keys + first_frame).tolist()
    assert list(notes["extremes"]) == [True, False, True, True]
    kp.save(keyed.sample(), tmp_path / f"dense{suffix}")
    dense = sdf.Layer.FindOrOpen(str(tmp_path / f"dense{suffix}"))
    assert "keypose" not in dense.customLayerData


def test_a_failed_save_leaves_no_keys_behind(keyed, tmp_path):
    with pytest.raises(kp.FileError):
        kp.save(keyed, tmp_path / "no" / "walk.bvh")
    with raises(kp.OptionError, value=".amc", path=str(tmp_path / "walk.amc")):
        kp.save(keyed, tmp_path / "walk.amc")
    assert list(tmp_path.iterdir()) == []


def test_other_types_are_refused(tmp_path):
    with raises(kp.OptionError, value="list", path=None):
        kp.save([1, 2], tmp_path / "x.keys.json")


def test_formats_that_write_keys_also_read_them():
    names = {f.name for f in FORMATS if f.read_keyed is not None}
    assert {"Keypose keys", "GLB", "glTF"} <= names
    assert {f.name for f in FORMATS if f.has_keys_sidecar} == {"BVH"}
