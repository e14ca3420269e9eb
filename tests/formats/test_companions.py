"""Files that need others, read with their companions: the disk is not read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.formats import recognise_format
from keypose.formats.base import Limits, Source
from keypose.limits import limit_hint
from keypose.options import LoadOptions
from support.acclaim_pair import ASF, amc
from support.errors import Pattern, raises
from support.gltf_pair import gltf


def read(name: str | Path, data: bytes, companions: dict[str, bytes], limits: Limits | None = None) -> kp.Motion:
    source = Source(Path(name), data, limits or Limits(), companions=companions)
    return recognise_format(source).read(source, LoadOptions())


def is_same(one: kp.Motion, other: kp.Motion) -> bool:
    poses = zip((one.translations, one.rotations), (other.translations, other.rotations), strict=True)
    return all(np.array_equal(ours, theirs) for ours, theirs in poses) and one.notes == other.notes


@pytest.mark.parametrize("kind", ["amc", "gltf"])
def test_they_are_read_as_if_all_lay_in_one_folder(tmp_path: Path, kind: str) -> None:
    text, buffers = gltf(kp.demo_motion(30.0)[:40], "a.bin", "./b.bin")
    name, data, companions = {
        "amc": ("07_05.amc", amc(), {"07.asf": ASF}),
        "gltf": ("walk.gltf", text, dict(zip(("a.bin", "b.bin"), buffers, strict=True))),
    }[kind]
    for each, content in {name: data, **companions}.items():
        (tmp_path / each).write_bytes(content)
    assert is_same(read(name, data, companions), kp.load(tmp_path / name))


@pytest.mark.parametrize("kind", ["amc", "gltf"])
def test_files_in_the_folder_are_not_read(tmp_path: Path, kind: str) -> None:
    text, (buffer,) = gltf(kp.demo_motion(30.0)[:40], "walk.bin")
    (tmp_path / "walk.bin").write_bytes(buffer)
    (tmp_path / "07.asf").write_bytes(ASF)
    name, data = ("07_05.amc", amc()) if kind == "amc" else ("walk.gltf", text)
    fields = {
        "amc": {"code": "inconsistent", "value": []},
        "gltf": {
            "code": "missing_buffer",
            "value": "walk.bin",
            "problem": Pattern("not among the files that came with it"),
        },
    }
    with raises(kp.FormatError, **fields[kind]):
        read(tmp_path / name, data, {})


def test_companions_count_against_the_limit_once() -> None:
    text, (buffer,) = gltf(kp.demo_motion(30.0)[:40], "walk.bin")
    scene = json.loads(text)
    scene["buffers"] *= 2
    scene["bufferViews"][0]["buffer"] = 1
    source = Source(Path("walk.gltf"), json.dumps(scene).encode(), companions={"walk.bin": buffer})
    recognise_format(source).read(source, LoadOptions())
    assert source.companion_bytes == len(buffer) and source.used_companions == {"walk.bin"}
    with raises(kp.LimitError, hint=limit_hint("bytes")):
        read("walk.gltf", text, {"walk.bin": buffer}, Limits(bytes=len(buffer) - 1))
