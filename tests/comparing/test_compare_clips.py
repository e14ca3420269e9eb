"""Many clips: in processes, kept when finished, never half written."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.batch import compare as room
from keypose.batch.compare import Comparing, compare, compare_clip
from keypose.batch.compare_kept import SUFFIX, Kept
from keypose.verbs.comparing import Settings

QUICK = Settings(("uniform",), (), (80.0,), ("linear",), curves=False)
ASKED = {"removed_percent": 80.0, "inbetweens": "linear", "curves": False}


@pytest.fixture
def clips(tmp_path: Path, short: kp.Motion) -> list[Path]:
    folder = tmp_path / "takes"
    folder.mkdir()
    return [kp.save(short[10 * n : 10 * n + 30], folder / f"take{n}.bvh") or folder / f"take{n}.bvh" for n in range(3)]


def test_motions_and_paths_alike(clips, short):
    found = compare([clips[0], str(clips[1]), short], "uniform", **ASKED)
    assert [clip.name for clip in found.clips] == ["take0", "take1", "demo"]
    assert [clip.source for clip in found.clips] == [str(clips[0]), str(clips[1]), ""]
    assert found.settings == QUICK
    assert len(compare(short, "uniform", **ASKED)) == 1


def test_processes_give_the_same_rows_in_the_same_order(clips):
    here, there = (compare(clips, ["uniform", "pca"], jobs=jobs, **ASKED) for jobs in (1, 2))
    assert [(row.clip, row.method, row.mean_mm) for row in here] == [(r.clip, r.method, r.mean_mm) for r in there]


def test_a_clip_that_cannot_be_read_is_an_error(clips, tmp_path: Path):
    clips[1].write_text("nothing")
    with pytest.raises(kp.KeyposeError, match=r"take1\.bvh"):
        compare(clips, "uniform", **ASKED)
    with pytest.raises(kp.OptionError, match="expected at least one Motion"):
        compare([])
    with pytest.raises(kp.OptionError, match="int, expected Motions or paths"):
        compare([3])


def test_progress_is_told(clips):
    told: list[tuple[int, int]] = []
    compare(clips, "uniform", on_clip=lambda done, of: told.append((done, of)), **ASKED)
    assert told == [(1, 3), (2, 3), (3, 3)]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the clips that are measured from now on."""
    names: list[str] = []
    really = room.measured

    def noted(motion, settings, **options):
        names.append(motion.name)
        return really(motion, settings, **options)

    monkeypatch.setattr(room, "measured", noted)
    return names


def test_finished_clips_are_not_measured_again(clips, tmp_path: Path, monkeypatch):
    names = counted(monkeypatch)
    first = compare(clips, "uniform", keep_in=tmp_path / "kept", **ASKED)
    assert names == ["take0", "take1", "take2"]
    second = compare(clips, "uniform", keep_in=tmp_path / "kept", **ASKED)
    assert len(names) == 3 and second.rows == first.rows


def test_other_settings_and_other_frames_are_measured_anew(clips, tmp_path: Path, monkeypatch, short):
    kept = tmp_path / "kept"
    compare(clips, "uniform", keep_in=kept, **ASKED)
    names = counted(monkeypatch)
    compare(clips, "uniform", keep_in=kept, **{**ASKED, "removed_percent": 90.0})
    assert names == ["take0", "take1", "take2"]
    names.clear()
    compare(clips, "uniform", keep_in=kept, fps=15, **ASKED)
    assert names == ["take0", "take1", "take2"]
    names.clear()
    kp.save(short[50:80], clips[1])
    compare(clips, "uniform", keep_in=kept, **ASKED)
    assert names == ["take1"]


def test_a_clip_that_was_renamed_is_known_by_its_frames(clips, tmp_path: Path, monkeypatch):
    kept = tmp_path / "kept"
    compare(clips, "uniform", keep_in=kept, **ASKED)
    names = counted(monkeypatch)
    clips[0].rename(clips[0].with_name("other.bvh"))
    found = compare(clips[0].with_name("other.bvh"), "uniform", keep_in=kept, **ASKED)
    assert not names and found.rows[0].clip == "other" and found.rows[0].source.endswith("other.bvh")


DAMAGES = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "other figures": lambda data: gzip.compress(gzip.decompress(data).replace(b'"uniform"', b'"salient"')),
    "no json": lambda data: b"{{{",
    "a list": lambda data: b"[1, 2]",
    "deep": lambda data: b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_measured_anew(clips, tmp_path: Path, monkeypatch, damage):
    kept = tmp_path / "kept"
    first = compare(clips[0], "uniform", keep_in=kept, **ASKED)
    (file,) = kept.iterdir()
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    names = counted(monkeypatch)
    again = compare(clips[0], "uniform", keep_in=kept, **ASKED)
    assert names == ["take0"] and again.rows[0].mean_mm == first.rows[0].mean_mm
    compare(clips[0], "uniform", keep_in=kept, **ASKED)
    assert names == ["take0"]


def test_rows_that_others_wrote_under_a_key_are_not_believed(clips, tmp_path: Path):
    """A file under another clip's name has another checksum."""
    kept = Kept(tmp_path / "kept")
    first, second = (compare_clip(Comparing(clip, QUICK, kept=kept)) for clip in clips[:2])
    (kept.folder / (first.key + SUFFIX)).replace(kept.folder / (second.key + SUFFIX))
    assert kept.rows(second.key) is None and kept.rows(first.key) is None


def test_only_what_is_ours_is_tidied_away(clips, tmp_path: Path):
    kept = Kept(tmp_path / "kept")
    found = [compare_clip(Comparing(clip, QUICK, kept=kept)) for clip in clips]
    (kept.folder / "mine.txt").write_text("stays")
    (kept.folder / f"mine{SUFFIX}").write_text("stays")
    kept.forget_all_but({found[1].key})
    assert sorted(file.name for file in kept.folder.iterdir()) == sorted(
        ["mine.txt", f"mine{SUFFIX}", found[1].key + SUFFIX]
    )


def test_a_version_makes_figures_of_its_own(clips, tmp_path: Path, monkeypatch):
    kept = Kept(tmp_path / "kept")
    before = kept.key("digest", QUICK)
    assert before != kept.key("other", QUICK) != kept.key("digest", replace(QUICK, curves=True))
    monkeypatch.setattr(kp, "__version__", "99")
    assert kept.key("digest", QUICK) != before


SCRIPT = """
import sys, time
from keypose.batch import compare as room
really = room.measured
def slow(motion, settings, **options):
    if motion.name == "take2":
        print("here", flush=True)
        time.sleep(60)
    return really(motion, settings, **options)
room.measured = slow
room.compare(sys.argv[2:], "uniform", removed_percent=80.0, inbetweens="linear", curves=False, keep_in=sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_run_that_was_killed_goes_on_where_it_stopped(clips, tmp_path: Path, monkeypatch):
    kept = tmp_path / "kept"
    program = [sys.executable, "-c", SCRIPT, str(kept), *map(str, clips)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}) as process:
        assert process.stdout is not None and process.stdout.readline() == b"here\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    files = list(kept.iterdir())
    assert len(files) == 2 and all(json.loads(gzip.decompress(file.read_bytes()))["rows"] for file in files)
    names = counted(monkeypatch)
    start = time.perf_counter()
    found = compare(clips, "uniform", keep_in=kept, **ASKED)
    assert names == ["take2"] and len(found.clips) == 3 and time.perf_counter() - start < 30
