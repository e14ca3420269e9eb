"""Small valid files of every kind, built in code; real ones of the shared data are added if present."""

from __future__ import annotations

import functools
import gzip
import importlib.util
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import keypose as kp
from keypose.storage import encode_kps

TESTS = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("KEYPOSE_TEST_DATA", TESTS.parents[1] / "shared" / "data"))
SMALL_BYTES = 120_000


@dataclass(frozen=True)
class Seeds:
    """The valid files of one kind and the name under which their damaged copies are loaded."""

    name: str
    contents: list[bytes]
    companions: dict[str, bytes] = field(default_factory=dict)  # files that must be in the same folder


@functools.cache
def seeds(kind: str) -> Seeds:
    """Return the seeds of one kind, always in the same order."""
    return KINDS[kind]()


def _save_demo(suffix: str) -> bytes:
    """Return a few frames of the demo motion in that format."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"demo{suffix}"
        kp.save(kp.demo_motion(fps=30)[100:104], path)
        return path.read_bytes()


def _saved_keyed(suffix: str) -> bytes:
    """Return a few keys of the demo motion in that format."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"demo{suffix}"
        kp.save(kp.unbake(kp.demo_motion(fps=30)[100:112], [2, 5, 10]), path)
        return path.read_bytes()


def _saved_kps(**options: object) -> bytes:
    """Return 2.5 s of the demo motion, whose joints rotate about one axis, two, three or none."""
    return encode_kps(kp.demo_motion(fps=20)[60:110], **options)  # type: ignore[arg-type]


def _saved_swings(suffix: str, **options: object) -> bytes:
    """Return a few swings of the demo motion in that format."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"demo{suffix}"
        kp.save(kp.swings(kp.demo_motion(fps=30)[100:160], **options), path)  # type: ignore[arg-type]
        return path.read_bytes()


def _real(pattern: str, max_bytes: int = SMALL_BYTES) -> list[bytes]:
    files = sorted(DATA.glob(pattern)) if DATA.is_dir() else []
    return [path.read_bytes() for path in files if path.stat().st_size <= max_bytes]


def _test_module(name: str) -> object:
    """Import a helper module of tests/support."""
    return importlib.import_module(f"tests.support.{name}")


def _bvh() -> Seeds:
    return Seeds(
        "x.bvh", [_save_demo(".bvh"), *_real("malformed/synthetic/*.bvh"), *_real("formats/bvh/*.bvh", 60_000)]
    )


def _bvh_gz() -> Seeds:
    return Seeds("x.bvh.gz", [_save_demo(".bvh.gz"), *map(gzip.compress, _real("malformed/synthetic/one-*.bvh"))])


def _asf() -> Seeds:
    acclaim = _test_module("acclaim")
    return Seeds("x.asf", [acclaim.ASF.encode(), *_real("asf-amc/*.asf")])  # type: ignore[attr-defined]


def _amc() -> Seeds:
    acclaim = _test_module("acclaim")
    contents = [acclaim.AMC.encode(), acclaim.AMC.replace("\n", "\r\n").encode()]  # type: ignore[attr-defined]
    return Seeds("x.amc", contents, {"x.asf": acclaim.ASF.encode()})  # type: ignore[attr-defined]


def _c3d() -> Seeds:
    writer = _test_module("c3d_writer")
    files = [writer.C3D(writer.walk(), processor=p, integers=i) for p in (84, 85, 86) for i in (False, True)]  # type: ignore[attr-defined]
    return Seeds("x.c3d", [file.data() for file in files] + _real("c3d/**/*.*3*"))


def _glb() -> Seeds:
    return Seeds("x.glb", [_save_demo(".glb"), _saved_keyed(".glb"), *_real("gltf/*.glb", 60_000)])


def _gltf() -> Seeds:
    return Seeds("x.gltf", [_save_demo(".gltf"), *_real("gltf/*.gltf")])


def _keys_json() -> Seeds:
    return Seeds("x.keys.json", [_saved_keyed(".keys.json"), _save_demo(".keys.json")])


def _swings_json() -> Seeds:
    kinds: tuple[dict[str, object], ...] = ({}, {"left_out": []}, {"fallback": "keys"}, {"translation_mm": 0.0})
    return Seeds("x.swings.json", [_saved_swings(".swings.json", **kind) for kind in kinds])


def _kps() -> Seeds:
    """Return files of every kind: within a tolerance, with one group and several, lossless, keys, swings."""
    kinds = [_save_demo(".kps"), _saved_kps(tolerance_mm=0.05), _saved_kps(lossless=True)]
    return Seeds("x.kps", [*kinds, *kinds, _saved_keyed(".kps"), _saved_swings(".kps")])


def _usda() -> Seeds:
    return Seeds("x.usda", [_save_demo(".usda"), *_real("usd/*.usda")])


def _usdc() -> Seeds:
    return Seeds("x.usdc", [_save_demo(".usdc")])


def _fbx() -> Seeds:
    return Seeds("x.fbx", _real("fbx/*.fbx", 400_000))


def missing_requirement(kind: str) -> str | None:
    """Return what is missing for this kind, if anything: FBX needs Blender and real files."""
    if kind == "fbx" and not os.environ.get("KEYPOSE_BLENDER_PYTHON"):
        return "KEYPOSE_BLENDER_PYTHON names no Python with Blender's module"
    return None if kind != "fbx" or _real("fbx/*.fbx", 400_000) else f"no FBX files in {DATA}"


# How many of ten thousand inputs are of that kind: USD and FBX start a process for each file.
SHARES = {
    "bvh": 2200, "bvh.gz": 400, "asf": 900, "amc": 1300, "c3d": 1400, "keys.json": 700, "swings.json": 400, "kps": 300, "glb": 1200,
    "gltf": 1100, "usda": 60, "usdc": 37, "fbx": 3,
}  # fmt: skip
KINDS = {
    "bvh": _bvh, "bvh.gz": _bvh_gz, "asf": _asf, "amc": _amc, "c3d": _c3d, "keys.json": _keys_json,
    "swings.json": _swings_json, "kps": _kps, "glb": _glb, "gltf": _gltf, "usda": _usda, "usdc": _usdc, "fbx": _fbx,
}  # fmt: skip
SUBPROCESS_KINDS = ("usda", "usdc", "fbx")  # read in a subprocess, which sets its own limits
