"""Comparison of many clips: worker processes, cache of finished clips, atomic files."""

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
from keypose.api.compare import CompareOptions
from keypose.batch import compare as compare_module
from keypose.batch.compare import SUFFIX, CompareCache, CompareJob, compare, compare_clip
from support.errors import raises

QUICK = CompareOptions(("uniform",), (), (80.0,), ("linear",), curves=False)
SETTINGS = {"removed_percent": 80.0, "inbetweens": "linear", "curves": False}


@pytest.fixture
def clips(tmp_path: Path, short: kp.Motion) -> list[Path]:
    folder = tmp_path / "takes"
    folder.mkdir()
    return [kp.save(short[10 * n : 10 * n + 30], folder / f"take{n}.bvh") or folder / f"take{n}.bvh" for n in range(3)]


def test_motions_and_paths_alike(clips, short):
    result = compare([clips[0], str(clips[1]), short], "uniform", **SETTINGS)
    assert [clip.name for clip in result.clips] == ["take0", "take1", "demo"]
    assert [clip.source for clip in result.clips] == [str(clips[0]), str(clips[1]), ""]
    assert result.settings == QUICK
    assert len(compare(short, "uniform", **SETTINGS)) == 1


def test_processes_give_the_same_rows_in_the_same_order(clips):
    in_process, in_workers = (compare(clips, ["uniform", "pca"], jobs=jobs, **SETTINGS) for jobs in (1, 2))
    assert [(row.clip, row.method, row.mean_mm) for row in in_process] == [
        (r.clip, r.method, r.mean_mm) for r in in_workers
    ]


def test_a_clip_that_cannot_be_read_is_an_error(clips, tmp_path: Path):
    clips[1].write_text("nothing")
    with raises(kp.KeyposeError, code="unknown_format", path=str(clips[1])):
        compare(clips, "uniform", **SETTINGS)
    with raises(kp.OptionError, expected="at least one Motion or path"):
        compare([])
    with raises(kp.OptionError, expected="Motions or paths of motion files"):
        compare([3])


def test_progress_is_reported(clips):
    progress: list[tuple[int, int]] = []
    compare(clips, "uniform", on_clip=lambda done, of: progress.append((done, of)), **SETTINGS)
    assert progress == [(1, 3), (2, 3), (3, 3)]


def count_measurements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the names of measured clips are added from now on."""
    names: list[str] = []
    measure_motion = compare_module.measure_motion

    def measure_and_count(motion, settings, **options):
        names.append(motion.name)
        return measure_motion(motion, settings, **options)

    monkeypatch.setattr(compare_module, "measure_motion", measure_and_count)
    return names


def test_finished_clips_are_not_measured_again(clips, tmp_path: Path, monkeypatch):
    names = count_measurements(monkeypatch)
    first = compare(clips, "uniform", cache_folder=tmp_path / "cache", **SETTINGS)
    assert names == ["take0", "take1", "take2"]
    second = compare(clips, "uniform", cache_folder=tmp_path / "cache", **SETTINGS)
    assert len(names) == 3 and second.rows == first.rows


def test_other_settings_and_other_frames_are_measured_again(clips, tmp_path: Path, monkeypatch, short):
    cached = tmp_path / "cache"
    compare(clips, "uniform", cache_folder=cached, **SETTINGS)
    names = count_measurements(monkeypatch)
    compare(clips, "uniform", cache_folder=cached, **{**SETTINGS, "removed_percent": 90.0})
    assert names == ["take0", "take1", "take2"]
    names.clear()
    compare(clips, "uniform", cache_folder=cached, fps=15, **SETTINGS)
    assert names == ["take0", "take1", "take2"]
    names.clear()
    kp.save(short[50:80], clips[1])
    compare(clips, "uniform", cache_folder=cached, **SETTINGS)
    assert names == ["take1"]


def test_a_renamed_clip_is_recognised_by_its_frames(clips, tmp_path: Path, monkeypatch):
    cached = tmp_path / "cache"
    compare(clips, "uniform", cache_folder=cached, **SETTINGS)
    names = count_measurements(monkeypatch)
    clips[0].rename(clips[0].with_name("other.bvh"))
    result = compare(clips[0].with_name("other.bvh"), "uniform", cache_folder=cached, **SETTINGS)
    assert not names and result.rows[0].clip == "other" and result.rows[0].source.endswith("other.bvh")


DAMAGES = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "other figures": lambda data: gzip.compress(gzip.decompress(data).replace(b'"uniform"', b'"salient"')),
    "no json": lambda data: b"{{{",
    "a list": lambda data: b"[1, 2]",
    "deep": lambda data: b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_cache_entries_are_measured_again(clips, tmp_path: Path, monkeypatch, damage):
    cached = tmp_path / "cache"
    first = compare(clips[0], "uniform", cache_folder=cached, **SETTINGS)
    (file,) = cached.iterdir()
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    names = count_measurements(monkeypatch)
    again = compare(clips[0], "uniform", cache_folder=cached, **SETTINGS)
    assert names == ["take0"] and again.rows[0].mean_mm == first.rows[0].mean_mm
    compare(clips[0], "uniform", cache_folder=cached, **SETTINGS)
    assert names == ["take0"]


def test_cached_rows_of_another_clip_are_rejected(clips, tmp_path: Path):
    """A cache file renamed to another clip's key has a wrong checksum."""
    cached = CompareCache(tmp_path / "cache")
    first, second = (compare_clip(CompareJob(clip, QUICK, cache=cached)) for clip in clips[:2])
    (cached.folder / (first.cache_key + SUFFIX)).replace(cached.folder / (second.cache_key + SUFFIX))
    assert cached.load_rows(second.cache_key) is None and cached.load_rows(first.cache_key) is None


def test_only_own_cache_files_are_deleted(clips, tmp_path: Path):
    cached = CompareCache(tmp_path / "cache")
    result = [compare_clip(CompareJob(clip, QUICK, cache=cached)) for clip in clips]
    (cached.folder / "mine.txt").write_text("stays")
    (cached.folder / f"mine{SUFFIX}").write_text("stays")
    cached.prune({result[1].cache_key})
    assert sorted(file.name for file in cached.folder.iterdir()) == sorted(
        ["mine.txt", f"mine{SUFFIX}", result[1].cache_key + SUFFIX]
    )


def test_another_version_measures_again(clips, tmp_path: Path, monkeypatch):
    cached = CompareCache(tmp_path / "cache")
    before = cached.build_key("digest", QUICK)
    assert before != cached.build_key("other", QUICK) != cached.build_key("digest", replace(QUICK, curves=True))
    monkeypatch.setattr(kp, "__version__", "99")
    assert cached.build_key("digest", QUICK) != before


SCRIPT = """
import sys, time
from keypose.batch import compare as compare_module
measure_motion = compare_module.measure_motion
def slow(motion, settings, **options):
    if motion.name == "take2":
        print("here", flush=True)
        time.sleep(60)
    return measure_motion(motion, settings, **options)
compare_module.measure_motion = slow
compare_module.compare(sys.argv[2:], "uniform", removed_percent=80.0, inbetweens="linear", curves=False, cache_folder=sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_killed_run_resumes_where_it_stopped(clips, tmp_path: Path, monkeypatch):
    cached = tmp_path / "cache"
    program = [sys.executable, "-c", SCRIPT, str(cached), *map(str, clips)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}) as process:
        assert process.stdout is not None and process.stdout.readline() == b"here\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    files = list(cached.iterdir())
    assert len(files) == 2 and all(json.loads(gzip.decompress(file.read_bytes()))["rows"] for file in files)
    names = count_measurements(monkeypatch)
    start = time.perf_counter()
    result = compare(clips, "uniform", cache_folder=cached, **SETTINGS)
    assert names == ["take2"] and len(result.clips) == 3 and time.perf_counter() - start < 30
