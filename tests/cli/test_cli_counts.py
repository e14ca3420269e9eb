"""A single frame, joint, key, clip or file is counted in the singular."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import keypose as kp

WRONG = re.compile(
    r"(?<![\d.,:] )(?<![\d.,])\b1 (?:more )?(?:frames|keys|clips|files|joints|swings|hits|motions|groups|rows|bytes|poses|values|steps)\b"
)


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    """One frame of one joint."""
    skeleton = kp.Skeleton(("root",), [-1], np.zeros((1, 3)), end_offsets=[[0, 1, 0]], end_joints=[0])
    return kp.Motion("one", skeleton, 30, np.zeros((1, 1, 3)), np.array([[[1.0, 0, 0, 0]]]))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, motion: kp.Motion) -> Path:
    """A folder with the one clip, and one that cannot be read."""
    monkeypatch.chdir(tmp_path)
    Path("takes").mkdir()
    kp.save(motion, "takes/one.bvh")
    kp.save(motion, "one.bvh")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "info one.bvh", "info takes", "convert one.bvh two.bvh", "convert takes out --to glb", "keys one.bvh",
        "keys takes", "unbake one.bvh one.glb --keys 1", "unbake takes out --to glb", "strip one.bvh one.svg",
        "strip takes pictures", "swings one.bvh", "swings takes", "timeline one.bvh one.svg --joints root",
        "curves one.bvh one.svg --mark 0", "curves one.bvh one.svg --reduced --joints root",
        "path one.bvh one.svg --joint root", "error-curve one.bvh one.svg", "report takes", "compress one.bvh one.kps",
        "compress takes archive", "library add takes --jobs 1", "compare takes", "convert one.bvh two.bvh --range 5:",
        "unbake one.bvh one.glb --keys 3", "keys one.bvh --keys 2", "info one.bvh --limit frames=0",
    ],
)  # fmt: skip
def test_commands_count_in_the_singular(keypose, folder: Path, line: str) -> None:
    result = keypose(*line.split())
    texts = [result.out, result.err, *(path.read_text() for path in folder.rglob("*.svg"))]
    assert [match[0] for text in texts for match in WRONG.finditer(text)] == []


def test_the_library_counts_in_the_singular(keypose, folder: Path) -> None:
    for line in ("add takes --jobs 1", "list", "list --skip 1", "show one", "stats", "search --words one", "export out",
                 "verify", "rebuild --jobs 1", "remove one --yes"):  # fmt: skip
        result = keypose("library", *line.split())
        assert WRONG.search(result.out + result.err) is None, line


def test_descriptions_count_in_the_singular(motion: kp.Motion) -> None:
    keyed, swings = kp.unbake(motion, [0]), kp.swings(motion)
    selection, score = kp.select(motion, keys=1), kp.score(motion, keyed)
    objects = [motion, motion[0], motion.skeleton, keyed, keyed.residual, keyed.translations, swings, selection, score]
    assert [repr(each) for each in objects if WRONG.search(repr(each))] == []
    cards = [each._repr_html_() for each in (motion, keyed, swings, selection, score)]
    assert [match[0] for card in cards for match in WRONG.finditer(card)] == []


def test_wrong_counts_are_found() -> None:
    assert [WRONG.search(text) is not None for text in ("1 frames", "of 1 keys", "11 keys", "1 key", "1,001 keys")] == [
        True, True, False, False, False,
    ]  # fmt: skip
