"""Stored motion: size at a given error beside other designs, speed and memory."""

from __future__ import annotations

import math
import multiprocessing
import sys
import tomllib
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.measure import HERE, machine_description
from benchmarks.storage.clips import CMU30, CORPORA, HELD_OUT, corpus_clips
from benchmarks.storage.memory import LONG_S, SHORT_S, TINY_S, Peak, build_long_clip, measure_peak
from benchmarks.storage.one_clip import ACL, KEYS, OURS, SWINGS, TOLERANCES_MM, ClipSizes, Job, measure_clip
from benchmarks.storage.picture import draw
from benchmarks.storage.speeds import Access, measure_access, measure_speeds
from benchmarks.storage.table import format_markdown, format_text, ratio_table, stored_ratio

import keypose as kp

FOLDER = HERE / "storage"
PROCESSES = 2
DEFAULT_MM = 1.0
STEPS = 10  # of progress lines if the output is not a terminal


def run() -> dict[str, float]:
    absent = [corpus for corpus in (*CORPORA, HELD_OUT) if not corpus_clips(corpus)]
    if absent:
        print(f"   NOT MEASURED: {', '.join(absent)} absent, set KEYPOSE_TEST_DATA")
        return dict.fromkeys(tomllib.loads((FOLDER / "expected.toml").read_text()), math.nan)
    with TemporaryDirectory() as folder:
        jobs = [Job(corpus, path, Path(folder)) for corpus in (*CORPORA, HELD_OUT) for path in corpus_clips(corpus)]
        clips, long_paths = _measure_clips(jobs, Path(folder))
        print(format_text(clips))
        figures = _size_figures(clips) | _encoding_figures(clips)
        lines = _error_lines(clips)
        decoding_figures, decoding_lines = _measure_decoding(jobs)
        figures |= decoding_figures
        lines += decoding_lines
        seconds = {clip.path: clip.seconds for clip in clips}
        longest_job = max(jobs, key=lambda job: seconds[job.path])
        lines += _report_access(measure_access(longest_job.file(DEFAULT_MM)), figures)
        *long_paths, tiny = long_paths
        lines += _report_memory([measure_peak(path, tiny) for path in long_paths], figures)
    lines += _encoding_lines(clips)
    print("\n".join(f"   {line}" for line in lines))
    (FOLDER / "ratios.svg").write_text(draw(ratio_table(clips), _expected_ratios()))
    (FOLDER / "ratios.md").write_text(_format_page(clips, lines))
    print("   ratios.svg, ratios.md: the same as a picture and as a page")
    return figures


def _expected_ratios() -> list[list[float]]:
    """Return the ratios of expected.toml by corpus and tolerance."""
    expectations = tomllib.loads((FOLDER / "expected.toml").read_text())
    return [[expectations[f"{corpus}_within_{mm:g}_mm"]["at_least"] for mm in TOLERANCES_MM] for corpus in CORPORA]


def _measure_clips(jobs: Sequence[Job], folder: Path) -> tuple[list[ClipSizes], list[Path]]:
    """Measure all clips, largest first, in two processes; also write the long clips for the memory measurement."""
    context = multiprocessing.get_context("spawn")
    clips: list[ClipSizes] = []
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        long_futures = [pool.submit(_save_long_clip, folder, seconds) for seconds in (LONG_S, SHORT_S, TINY_S)]
        largest_first = sorted(jobs, key=lambda job: -_estimate_text_bytes(job.path))
        futures: list[Future[ClipSizes]] = [pool.submit(measure_clip, job) for job in largest_first]
        try:
            for future in as_completed(futures):
                clips.append(future.result())
                _print_progress(len(clips), len(jobs))
            paths = [each.result() for each in long_futures]
        except BaseException:
            pool.shutdown(cancel_futures=True)  # otherwise all other clips would be stored before the error is reported
            raise
    return sorted(clips, key=lambda clip: (clip.corpus, clip.path)), paths


def _estimate_text_bytes(path: Path) -> int:
    """Estimate the text size of a clip: gzip reduces it to a quarter."""
    return path.stat().st_size * (4 if path.suffix == ".gz" else 1)


def _save_long_clip(folder: Path, seconds: float) -> Path:
    path = folder / f"long {seconds:g}.kps"
    kp.save(build_long_clip(corpus_clips(CMU30), seconds), path, tolerance_mm=DEFAULT_MM)
    return path


def _print_progress(n_done: int, total: int) -> None:
    if sys.stdout.isatty():
        print(f"\r   {n_done} of {total} clips", end="\n" if n_done == total else "", flush=True)
    elif n_done * STEPS // total > (n_done - 1) * STEPS // total:
        print(f"   {n_done} of {total} clips", flush=True)


def _size_figures(clips: Sequence[ClipSizes]) -> dict[str, float]:
    """Return the ratios and the largest error over tolerance; check that rivals stay within the tolerance."""
    figures = {
        f"{corpus}_within_{mm:g}_mm": stored_ratio(clips, corpus, OURS, mm)
        for corpus in CORPORA
        for mm in TOLERANCES_MM
    }
    ratios = [clip.errors_mm[OURS, mm] / mm for clip in clips for mm in TOLERANCES_MM]
    for clip in clips:
        for design in (ACL, KEYS):
            for mm in TOLERANCES_MM:
                error = clip.errors_mm.get((design, mm), 0.0)
                assert error <= mm, f"{design} of {clip.path.name} is off by {error} mm, more than {mm}"
    return figures | {"largest_error_over_tolerance": max(ratios)}


def _error_lines(clips: Sequence[ClipSizes]) -> list[str]:
    """Return lines about errors over tolerance, header sizes, and errors of swings at points off joints."""
    error_ratios, swing_ratios = (
        [clip.errors_mm[key] / key[1] for clip in clips for key in clip.errors_mm if key[0] == design]
        for design in (OURS, SWINGS)
    )
    header_sizes = [clip.header_bytes for clip in clips]
    return [
        f"largest error over tolerance in {len(error_ratios)} files, by the package's measure and that of this "
        f"benchmark: {max(error_ratios):.6f}, in the median file {np.median(error_ratios):.4f}",
        f"names, bones and the rest take {np.median(header_sizes):.0f} bytes in the median clip, "
        f"{max(header_sizes)} at most; they are counted for all designs but text",
        f"swings bound the error of joints only: points off the joints are up to {max(swing_ratios):.0f} tolerances "
        f"off, in the median file {np.median(swing_ratios):.1f}",
    ]


def _encoding_figures(clips: Sequence[ClipSizes]) -> dict[str, float]:
    return {"encoding_s_per_s": max(_encoding_ratio(clips, corpus, mm) for corpus in CORPORA for mm in TOLERANCES_MM)}


def _encoding_ratio(clips: Sequence[ClipSizes], corpus: str, mm: float) -> float:
    own = [clip for clip in clips if clip.corpus == corpus]
    return sum(clip.encode_s[OURS, mm] for clip in own) / sum(clip.seconds for clip in own)


def _encoding_lines(clips: Sequence[ClipSizes]) -> list[str]:
    return [
        f"encoding {corpus}: "
        + ", ".join(f"{_encoding_ratio(clips, corpus, mm):.2f} s per second within {mm:g} mm" for mm in TOLERANCES_MM)
        for corpus in CORPORA
    ]


def _measure_decoding(jobs: Sequence[Job]) -> tuple[dict[str, float], list[str]]:
    """Measure decoding as medians over the clips of a corpus; the figure is that of the slowest tolerance."""
    figures, lines = {}, []
    for corpus in CORPORA:
        load, codec = [], []
        for mm in TOLERANCES_MM:
            clip_speeds = measure_speeds([job.file(mm) for job in jobs if job.corpus == corpus])
            load.append(float(np.median([speed.load for speed in clip_speeds])))
            codec.append(float(np.median([speed.codec for speed in clip_speeds])))
        figures[f"decoding_{corpus}_times_real_time"] = min(load)
        lines.append(f"decoding {corpus}, times real time, median clip, within "
                     f"{_join_numbers(TOLERANCES_MM, 'g')} mm: kp.load {_join_numbers(load, '.0f')}, "
                     f"the codec alone {_join_numbers(codec, '.0f')}")  # fmt: skip
    return figures, lines


def _join_numbers(numbers: Sequence[float], form: str) -> str:
    return " / ".join(f"{number:{form}}" for number in numbers)


def _report_access(access_result: Access, figures: dict[str, float]) -> list[str]:
    figures["one_second_ms"] = 1e3 * access_result.seconds
    return [
        f"one second out of {access_result.name} ({access_result.clip_s:.0f} s within {DEFAULT_MM:g} mm): "
        f"{access_result.read_bytes:,} of {access_result.file_bytes:,} bytes read, "
        f"{1e3 * access_result.seconds:.1f} ms with opening the file"
    ]


def _report_memory(peaks: Sequence[Peak | None], figures: dict[str, float]) -> list[str]:
    figures["memory_over_clip"] = math.nan
    lines = []
    for clip_peak in peaks:
        if clip_peak is None:
            return ["memory: not measured, this system does not tell"]
        if clip_peak.seconds >= LONG_S:
            figures["memory_over_clip"] = clip_peak.peak_bytes / clip_peak.clip_bytes
        lines.append(
            f"memory, second by second through {clip_peak.seconds:.0f} s ({clip_peak.file_bytes / 1e6:.2f} MB stored, "
            f"{clip_peak.clip_bytes / 1e6:.1f} MB of numbers, {clip_peak.group_bytes / 1e3:.0f} kB a second): "
            f"{clip_peak.peak_bytes / 1e6:.2f} MB at the peak; all at once {clip_peak.at_once_bytes / 1e6:.1f} MB"
        )
    return lines


def _format_page(clips: Sequence[ClipSizes], lines: Sequence[str]) -> str:
    counts = [f"{sum(clip.corpus == corpus for clip in clips)} of `{corpus}`" for corpus in (*CORPORA, HELD_OUT)]
    return "\n".join(
        (
            "# Results of the last run\n",
            f"Written by `python -m benchmarks storage` on {machine_description()}.",
            f"Raw bytes over stored bytes, all clips of a corpus together: {', '.join(counts)}.\n",
            format_markdown(clips),
            "",
            *(f"- {line}" for line in lines),
            "",
        )
    )
