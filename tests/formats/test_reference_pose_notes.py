"""Notes about a separate reference pose: a code tells them from others, whatever their words are."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.batch.plan import drop_pose_notes
from keypose.model import FIRST_FRAME_NOTE, POSE_NOTE_CODE, REFERENCE_POSE_NOTE, Note, list_notes, note_code
from support import acclaim

OTHER = "what was noticed"
MOTION = replace(kp.demo_motion(fps=20)[:40], notes=(FIRST_FRAME_NOTE, OTHER, REFERENCE_POSE_NOTE))
CODES = (POSE_NOTE_CODE, None, POSE_NOTE_CODE)


def codes(notes: tuple[str, ...]) -> tuple[str | None, ...]:
    return tuple(map(note_code, notes))


def test_only_notes_with_the_code_are_dropped() -> None:
    assert drop_pose_notes((Note("in other words", POSE_NOTE_CODE), Note(OTHER, "not_read"))) == (OTHER,)
    assert drop_pose_notes([str(REFERENCE_POSE_NOTE)]) == (REFERENCE_POSE_NOTE,)


@pytest.mark.parametrize(
    ("name", "save_clip", "load_clip"),
    [
        ("a.kps", lambda path: kp.save(MOTION, path), kp.load),
        ("a.kps", lambda path: kp.save(MOTION, path, lossless=True), kp.load),
        ("a.kps", lambda path: kp.save(kp.unbake(MOTION, [0, 20, 39]), path), kp.load_keyed),
        ("a.keys.json", lambda path: kp.save(kp.unbake(MOTION, [0, 20, 39]), path), kp.load_keyed),
        ("a.kps", lambda path: kp.save(kp.swings(MOTION), path), kp.load_swings),
        ("a.swings.json", lambda path: kp.save(kp.swings(MOTION), path), kp.load_swings),
    ],
)
def test_files_keep_the_code(
    tmp_path: Path, name: str, save_clip: Callable[[Path], None], load_clip: Callable[[Path], kp.Motion]
) -> None:
    save_clip(tmp_path / name)
    notes = load_clip(tmp_path / name).notes
    assert notes == MOTION.notes and codes(notes) == CODES


@pytest.mark.parametrize("options", [{"tolerance_mm": 1.0}, {"lossless": True}])
def test_the_code_does_not_change_the_bytes_of_a_file(tmp_path: Path, options: dict[str, float]) -> None:
    plain = replace(MOTION, notes=tuple(map(str, MOTION.notes)))
    for motion, name in ((MOTION, "coded.kps"), (plain, "plain.kps")):
        kp.save(motion, tmp_path / name, **options)
    assert (tmp_path / "coded.kps").read_bytes() == (tmp_path / "plain.kps").read_bytes()


def test_other_processes_and_slices_keep_the_code() -> None:
    assert codes(pickle.loads(pickle.dumps(MOTION)).notes) == CODES
    assert codes(list_notes(MOTION[3:9])) == CODES


def test_readers_note_a_separate_pose(tmp_path: Path) -> None:
    kp.save(MOTION, tmp_path / "clip.bvh")
    for path in (tmp_path / "clip.bvh", acclaim.write(tmp_path)):
        assert POSE_NOTE_CODE in codes(kp.load(path, reference_pose="drop").notes)
        assert POSE_NOTE_CODE not in codes(kp.load(path, reference_pose="keep").notes)
