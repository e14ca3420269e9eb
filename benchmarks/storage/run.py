"""Stored motion: how small within how large an error, beside other designs; how fast and in how little memory."""

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
from benchmarks.measure import HERE, machine
from benchmarks.storage.clips import CMU30, CORPORA, HELD_OUT, clips_of
from benchmarks.storage.memory import LONG_S, SHORT_S, TINY_S, Peak, long_clip, peak
from benchmarks.storage.one_clip import ACL, KEYS, OURS, SWINGS, TOLERANCES_MM, Job, Stored, stored
from benchmarks.storage.picture import draw
from benchmarks.storage.speeds import Access, access, speeds
from benchmarks.storage.table import as_markdown, as_text, cells, ratio

import keypose as kp

OWN = HERE / "storage"
PROCESSES = 2
USUAL_MM = 1.0
STEPS = 10  # of progress where nobody looks on


def run() -> dict[str, float]:
    absent = [corpus for corpus in (*CORPORA, HELD_OUT) if not clips_of(corpus)]
    if absent:
        print(f"   NOT MEASURED: {', '.join(absent)} absent, set KEYPOSE_TEST_DATA")
        return dict.fromkeys(tomllib.loads((OWN / "expected.toml").read_text()), math.nan)
    with TemporaryDirectory() as folder:
        jobs = [Job(corpus, path, Path(folder)) for corpus in (*CORPORA, HELD_OUT) for path in clips_of(corpus)]
        clips, long = _all_stored(jobs, Path(folder))
        print(as_text(clips))
        figures = _sizes(clips) | _encoding(clips)
        lines = _errors(clips)
        faster, said = _decoding(jobs)
        figures |= faster
        lines += said
        seconds = {clip.path: clip.seconds for clip in clips}
        longest = max(jobs, key=lambda job: seconds[job.path])
        lines += _access(access(longest.file(USUAL_MM)), figures)
        *long, tiny = long
        lines += _memory([peak(path, tiny) for path in long], figures)
    lines += _encoding_lines(clips)
    print("\n".join(f"   {line}" for line in lines))
    (OWN / "ratios.svg").write_text(draw(cells(clips), _promised()))
    (OWN / "ratios.md").write_text(_page(clips, lines))
    print("   ratios.svg, ratios.md: the same as a picture and as a page")
    return figures


def _promised() -> list[list[float]]:
    """The ratios of expected.toml, corpus by corpus."""
    promises = tomllib.loads((OWN / "expected.toml").read_text())
    return [[promises[f"{corpus}_within_{mm:g}_mm"]["at_least"] for mm in TOLERANCES_MM] for corpus in CORPORA]


def _all_stored(jobs: Sequence[Job], folder: Path) -> tuple[list[Stored], list[Path]]:
    """All clips, the largest first, in two processes; and the long clips that memory is measured on."""
    context = multiprocessing.get_context("spawn")
    clips: list[Stored] = []
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        long = [pool.submit(_long, folder, seconds) for seconds in (LONG_S, SHORT_S, TINY_S)]
        largest_first = sorted(jobs, key=lambda job: -_text_bytes(job.path))
        waiting: list[Future[Stored]] = [pool.submit(stored, job) for job in largest_first]
        try:
            for done in as_completed(waiting):
                clips.append(done.result())
                _progress(len(clips), len(jobs))
            paths = [each.result() for each in long]
        except BaseException:
            pool.shutdown(cancel_futures=True)  # or the rest would be stored before anybody hears of it
            raise
    return sorted(clips, key=lambda clip: (clip.corpus, clip.path)), paths


def _text_bytes(path: Path) -> int:
    """About how long a clip is: text in gzip is a quarter."""
    return path.stat().st_size * (4 if path.suffix == ".gz" else 1)


def _long(folder: Path, seconds: float) -> Path:
    path = folder / f"long {seconds:g}.kps"
    kp.save(long_clip(clips_of(CMU30), seconds), path, tolerance_mm=USUAL_MM)
    return path


def _progress(done: int, total: int) -> None:
    if sys.stdout.isatty():
        print(f"\r   {done} of {total} clips", end="\n" if done == total else "", flush=True)
    elif done * STEPS // total > (done - 1) * STEPS // total:
        print(f"   {done} of {total} clips", flush=True)


def _sizes(clips: Sequence[Stored]) -> dict[str, float]:
    """The promised ratios, and that every file of ours keeps its bound."""
    figures = {
        f"{corpus}_within_{mm:g}_mm": ratio(clips, corpus, OURS, mm) for corpus in CORPORA for mm in TOLERANCES_MM
    }
    kept = [clip.errors_mm[OURS, mm] / mm for clip in clips for mm in TOLERANCES_MM]
    for clip in clips:
        for design in (ACL, KEYS):
            for mm in TOLERANCES_MM:
                error = clip.errors_mm.get((design, mm), 0.0)
                assert error <= mm, f"{design} of {clip.path.name} is off by {error} mm, more than {mm}"
    return figures | {"largest_error_over_tolerance": max(kept)}


def _errors(clips: Sequence[Stored]) -> list[str]:
    """How much of the tolerance is used, what headers take, how far swings are off where they promise nothing."""
    used, swings = ([clip.errors_mm[key] / key[1] for clip in clips for key in clip.errors_mm if key[0] == design]
                    for design in (OURS, SWINGS))  # fmt: skip
    heads = [clip.header_bytes for clip in clips]
    return [
        f"largest error over tolerance in {len(used)} files, by the package's measure and that of this benchmark: "
        f"{max(used):.6f}, in the median file {np.median(used):.4f}",
        f"names, bones and the rest take {np.median(heads):.0f} bytes in the median clip, {max(heads)} at most; "
        f"they are counted for all designs but text",
        f"swings hold joints only: points off these are up to {max(swings):.0f} tolerances off, in the median file "
        f"{np.median(swings):.1f}",
    ]


def _encoding(clips: Sequence[Stored]) -> dict[str, float]:
    return {"encoding_s_per_s": max(_encoding_of(clips, corpus, mm) for corpus in CORPORA for mm in TOLERANCES_MM)}


def _encoding_of(clips: Sequence[Stored], corpus: str, mm: float) -> float:
    own = [clip for clip in clips if clip.corpus == corpus]
    return sum(clip.encode_s[OURS, mm] for clip in own) / sum(clip.seconds for clip in own)


def _encoding_lines(clips: Sequence[Stored]) -> list[str]:
    return [
        f"encoding {corpus}: "
        + ", ".join(f"{_encoding_of(clips, corpus, mm):.2f} s per second within {mm:g} mm" for mm in TOLERANCES_MM)
        for corpus in CORPORA
    ]


def _decoding(jobs: Sequence[Job]) -> tuple[dict[str, float], list[str]]:
    """Medians over the clips of each corpus; the figure is the slowest of the tolerances."""
    figures, lines = {}, []
    for corpus in CORPORA:
        load, codec = [], []
        for mm in TOLERANCES_MM:
            found = speeds([job.file(mm) for job in jobs if job.corpus == corpus])
            load.append(float(np.median([speed.load for speed in found])))
            codec.append(float(np.median([speed.codec for speed in found])))
        figures[f"decoding_{corpus}_times_real_time"] = min(load)
        lines.append(f"decoding {corpus}, times real time, median clip, within {_listed(TOLERANCES_MM, 'g')} mm: "
                     f"kp.load {_listed(load, '.0f')}, the codec alone {_listed(codec, '.0f')}")  # fmt: skip
    return figures, lines


def _listed(numbers: Sequence[float], form: str) -> str:
    return " / ".join(f"{number:{form}}" for number in numbers)


def _access(found: Access, figures: dict[str, float]) -> list[str]:
    figures["one_second_ms"] = 1e3 * found.seconds
    return [
        f"one second out of {found.name} ({found.clip_s:.0f} s within {USUAL_MM:g} mm): {found.read_bytes:,} of "
        f"{found.file_bytes:,} bytes read, {1e3 * found.seconds:.1f} ms with opening the file"
    ]


def _memory(peaks: Sequence[Peak | None], figures: dict[str, float]) -> list[str]:
    figures["memory_over_clip"] = math.nan
    lines = []
    for found in peaks:
        if found is None:
            return ["memory: not measured, this system does not tell"]
        if found.seconds >= LONG_S:
            figures["memory_over_clip"] = found.peak_bytes / found.clip_bytes
        lines.append(
            f"memory, second by second through {found.seconds:.0f} s ({found.file_bytes / 1e6:.2f} MB stored, "
            f"{found.clip_bytes / 1e6:.1f} MB of numbers, {found.group_bytes / 1e3:.0f} kB a second): "
            f"{found.peak_bytes / 1e6:.2f} MB at the peak; all at once {found.at_once_bytes / 1e6:.1f} MB"
        )
    return lines


def _page(clips: Sequence[Stored], lines: Sequence[str]) -> str:
    counts = [f"{sum(clip.corpus == corpus for clip in clips)} of `{corpus}`" for corpus in (*CORPORA, HELD_OUT)]
    return "\n".join(
        (
            "# What the last run found\n",
            f"Written by `python -m benchmarks storage` on {machine()}.",
            f"Raw bytes over stored bytes, all clips of a corpus together: {', '.join(counts)}.\n",
            as_markdown(clips),
            "",
            *(f"- {line}" for line in lines),
            "",
        )
    )
