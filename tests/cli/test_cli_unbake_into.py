"""``--into`` and ``--all-animations``: keys and edits in the file of a character, and files with several."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import freeze
from keypose.batch.file_discovery import split_animations
from keypose.formats import Limits
from support.gltf_motions import read_document, replace_document

NAMES = ("hero", "Idle", "Walk: fast", "walk_ fast")


@pytest.fixture
def hero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A character with four animations of 40, 30, 20 and 25 frames, in the current folder."""
    monkeypatch.chdir(tmp_path)
    motion = kp.demo_motion(fps=20)
    path = Path("hero.glb")
    kp.save(replace(motion[:40], name=NAMES[0]), path)
    for start, name, length in zip((50, 90, 120), NAMES[1:], (30, 20, 25), strict=True):
        kp.save(replace(motion[start : start + length], name=name), path, into=path)
    return path


def frame_counts(path: Path) -> list[int]:
    return [kp.load(path, animation=k).n_frames for k in range(len(read_document(path)["animations"]))]


def test_the_result_is_the_character_with_other_keys(keypose: Callable, hero: Path) -> None:
    result = keypose("unbake", hero, "out.glb", "--animation", "Idle", "--into", hero, "--keys", 5, "--json")
    (clip,) = json.loads(result.out)["unbaked"]
    assert (result.code, clip["animation"], clip["n_frames"], len(clip["frames"])) == (0, None, 30, 5)
    assert [a["name"] for a in read_document(Path("out.glb"))["animations"]] == list(NAMES)
    keyed = kp.load_keyed("out.glb", animation="Idle")
    assert keyed.keys.tolist() == clip["frames"] and Path("out.keys.json").exists()
    assert frame_counts(Path("out.glb")) == [40, 30, 20, 25]
    np.testing.assert_array_equal(kp.load("out.glb").rotations, kp.load(hero).rotations)
    refused = keypose("unbake", hero, hero, "--animation", "Idle", "--into", hero, "--keys", 5, "--no-keys")
    assert refused.code == 1 and "exists already" in refused.err
    replaced = keypose(
        "unbake", hero, hero, "--animation", "Idle", "--into", hero, "--keys", 5, "--no-keys", "--overwrite"
    )
    assert replaced.code == 0 and "keys and curves, in a copy of hero.glb" in replaced.out
    assert kp.load_keyed(hero, animation="Idle").keys.tolist() == clip["frames"]


def test_parts_of_the_character_are_not_called_lost(keypose: Callable, hero: Path) -> None:
    document = read_document(hero)
    node = {"name": "hat", "mesh": 0}
    content = hero.read_bytes()
    replace_document(hero, document | {"nodes": [*document["nodes"], node]})
    assert len(hero.read_bytes()) > len(content)
    alone = keypose("unbake", hero, "alone.glb", "--animation", "Idle", "--keys", 5)
    assert "not read: 1 prop ('hat')" in alone.err
    assert "to keep what else hero.glb contains, put the keys into it: --into hero.glb" in alone.out
    into = keypose("unbake", hero, "out.glb", "--animation", "Idle", "--keys", 5, "--into", hero)
    assert into.code == 0 and "not read" not in into.err and "to keep what else" not in into.out
    bvh = keypose("unbake", hero, "out.bvh", "--animation", "Idle", "--keys", 5)
    assert "not read" in bvh.err and "--into" not in bvh.out
    assert read_document(Path("out.glb"))["nodes"][-1] == node


def test_an_edit_goes_back_into_the_character(keypose: Callable, hero: Path) -> None:
    unbaked = keypose("unbake", hero, "new.glb", "--animation", "Idle", "--keys", 5, "--into", hero)
    assert "keypose rebake EDITED.glb FINAL.glb --from new.keys.json --into hero.glb" in unbaked.out
    assert "blender/gltf_tangents.py" in unbaked.out and "new.blend" not in unbaked.out
    keyed = kp.load_keyed("new.keys.json")
    hips = keyed.translations.with_values(freeze(keyed.translations.values + 0.1))
    kp.save(replace(keyed, name="edited", translations=hips, residual=None), "edited.glb")  # under its own name
    result = keypose("rebake", "edited.glb", "final.glb", "--from", "new.keys.json", "--into", hero, "--residual", 1)
    assert result.code == 0 and "not read" not in result.err
    assert [a["name"] for a in read_document(Path("final.glb"))["animations"]] == list(NAMES)
    assert frame_counts(Path("final.glb")) == [40, 30, 20, 25]
    expected = kp.rebake(kp.load_keyed("edited.glb"), keyed, 1.0)
    final = kp.load("final.glb", animation="Idle")
    np.testing.assert_allclose(final.world_positions(), expected.world_positions(), atol=1e-5)
    missing = keypose("rebake", "edited.glb", "x.glb", "--from", "new.keys.json", "--into", "nobody.glb")
    assert missing.code == 1 and "nobody.glb: no such file" in missing.err
    refused = keypose("rebake", "edited.glb", "x.bvh", "--from", "new.keys.json", "--into", hero)
    assert refused.code == 1 and not Path("x.bvh").exists()


def test_names_of_animations_differ_whatever_they_are(hero: Path) -> None:
    document = read_document(hero)
    for animation, name in zip(document["animations"], ("run", "run-2", "Run", "run-3"), strict=True):
        animation["name"] = name
    replace_document(hero, document)
    names = [animation.name for animation in split_animations(hero, Limits())]
    assert names == ["run", "run-2", "Run-2-2", "run-3"]


def test_every_animation_to_a_file_of_its_own(keypose: Callable, hero: Path) -> None:
    result = keypose("unbake", hero, "out/", "--all-animations", "--to", "glb", "--keys", 4, "--jobs", 1, "--json")
    clips = json.loads(result.out)["unbaked"]
    assert [clip["animation"] for clip in clips] == ["hero", "Idle", "Walk_ fast", "walk_ fast-3"]
    files = ["hero-hero.glb", "hero-Idle.glb", "hero-Walk_ fast.glb", "hero-walk_ fast-3.glb"]
    assert [Path(clip["target"]).name for clip in clips] == files
    for clip, n_frames in zip(clips, (40, 30, 20, 25), strict=True):
        keyed = kp.load_keyed(clip["target"])
        assert keyed.n_frames == n_frames == clip["n_frames"] and len(keyed.keys) == 4
        assert kp.load_keyed(clip["keys_file"]).residual is not None
    again = keypose("unbake", hero, "out/", "--all-animations", "--to", "glb", "--keys", 4, "--skip-existing")
    assert again.code == 0 and "4 existing skipped" in again.out


def test_every_animation_into_the_character(keypose: Callable, hero: Path) -> None:
    command = ("unbake", hero, "out.glb", "--all-animations", "--into", hero, "--keys", 4, "--jobs", 1)
    result = keypose(*command, "--json")
    clips = json.loads(result.out)["unbaked"]
    size = Path("out.glb").stat().st_size
    assert [(clip["target"], clip["bytes"]) for clip in clips] == [("out.glb", size)] * 4
    for k, clip in enumerate(clips):
        assert kp.load_keyed("out.glb", animation=k).keys.tolist() == clip["frames"]
    keys_files = ["out-hero.keys.json", "out-Idle.keys.json", "out-Walk_ fast.keys.json", "out-walk_ fast-3.keys.json"]
    assert [clip["keys_file"] for clip in clips] == keys_files
    refused = keypose(*command)
    assert refused.code == 1 and "exists already" in refused.err
    replaced = keypose(*command, "--overwrite")
    assert replaced.code == 0 and "4 of 4 clips unbaked" in replaced.out and "hero-Idle.glb" in replaced.out
    assert sorted(path.name for path in Path().iterdir()) == sorted(["hero.glb", "out.glb", *keys_files])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_animations_that_fail_leave_the_others(keypose: Callable, hero: Path, n_jobs: int) -> None:
    result = keypose(
        "unbake",
        hero,
        "out.glb",
        "--all-animations",
        "--into",
        hero,
        "--keys",
        4,
        "--pin",
        27,
        "--jobs",
        n_jobs,
        "--no-keys",
    )
    assert result.code == 1 and "2 of 4 clips unbaked" in result.out
    assert result.err.count("error: ") == 2 and "animation 'Walk_ fast'" in result.err
    assert len(kp.load_keyed("out.glb", animation="Idle").keys) == 4
    assert len(kp.load_keyed("out.glb", animation=2).keys) == 20  # unchanged


def test_a_character_that_cannot_be_written_fails_every_animation(keypose: Callable, hero: Path) -> None:
    kp.save(replace(kp.demo_motion(fps=20)[:30], name="other"), "other.glb")
    document = read_document(Path("other.glb"))
    document["nodes"][1]["name"] = "tail"
    replace_document(Path("other.glb"), document)
    result = keypose("unbake", hero, "out.glb", "--all-animations", "--into", "other.glb", "--keys", 4, "--no-keys")
    assert result.code == 1 and not Path("out.glb").exists()
    assert result.err.count("has no joint") == 4


def test_files_with_one_motion_stay_single(keypose: Callable, hero: Path) -> None:
    kp.save(kp.demo_motion(fps=20)[:30], "walk.bvh")
    assert keypose("unbake", "walk.bvh", "one.glb", "--all-animations", "--keys", 4).code == 0
    result = keypose(
        "unbake", "walk.bvh", hero, "none.glb", "out/", "--all-animations", "--to", "glb", "--keys", 4, "--json"
    )
    document = json.loads(result.out)
    assert [clip["animation"] for clip in document["unbaked"]] == [None, "hero", "Idle", "Walk_ fast", "walk_ fast-3"]
    assert result.code == 1 and len(document["failed"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("out.glb", "--all-animations", "--animation", "Idle"), 2, "--animation"),
        (("out.glb", "--all-animations"), 2, "several results need a folder"),
        (("out.bvh", "--into", "hero.glb"), 1, "expected a .glb file as result"),
        (("out.glb", "--into", "none.glb"), 1, "none.glb: no such file"),
        (("out.glb", "--into", "x" * 300 + ".glb"), 1, "x.glb: no such file"),
        (("out.glb", "--into", "."), 1, ".: is a folder, expected a character in a .glb file"),
        (("out.glb", "--into", "walk.bvh"), 1, "expected a character in a .glb file"),
    ],
)
def test_refused_options(keypose: Callable, hero: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    kp.save(kp.demo_motion(fps=20)[:30], "walk.bvh")
    result = keypose("unbake", hero, *arguments, "--keys", 4)
    assert (result.code, message in result.err) == (code, True), result.err
    assert not Path(arguments[0]).exists()


@pytest.mark.parametrize("animations", [["--animation", "Idle"], ["--all-animations"]])
def test_morph_weights_of_the_character_are_reduced_or_stay(
    keypose: Callable, hero: Path, animations: list[str]
) -> None:
    document = read_document(hero)
    (idle,) = [animation for animation in document["animations"] if animation["name"] == "Idle"]
    times = idle["samplers"][0]["input"]
    weights = {"componentType": 5126, "type": "SCALAR", "count": document["accessors"][times]["count"]}  # all 0
    idle["channels"].append({"sampler": len(idle["samplers"]), "target": {"node": 0, "path": "weights"}})
    idle["samplers"].append({"input": times, "output": len(document["accessors"])})
    replace_document(hero, document | {"accessors": [*document["accessors"], weights]})
    counts = []
    for out, options in (("reduced.glb", []), ("whole.glb", ["--no-reduce-tracks"])):
        result = keypose("unbake", hero, out, *animations, "--into", hero, "--keys", 5, "--no-keys", *options)
        assert result.code == 0, result.err
        written = read_document(Path(out))
        (idle,) = [animation for animation in written["animations"] if animation["name"] == "Idle"]
        (channel,) = [each for each in idle["channels"] if each["target"]["path"] == "weights"]
        counts.append(written["accessors"][idle["samplers"][channel["sampler"]]["input"]]["count"])
    assert counts == [1, 30]
