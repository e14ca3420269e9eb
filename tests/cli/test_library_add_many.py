"""``keypose library add`` of many files: progress bar, and memory that does not grow."""

from __future__ import annotations

import gc
import io
import json
import tracemalloc
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import keypose as kp
from keypose.batch import Outcome
from keypose.cli import library_add, output
from keypose.cli.library_add import IngestProgressBar
from keypose.formats import base
from keypose.library.analysis import PreparedClip, PrepareJob, run_prepare_job
from keypose.library.blobs import sha256_hex
from keypose.library.ingest.run import Engine
from keypose.library.library import Library
from keypose.library.records import IngestProgress

FEW, MANY = 40, 340
WINDOW = 20  # readings; the smallest counts, since the number of files read ahead depends on timing
MAX_GROWTH_B = 300  # for each clip, whose record alone takes 2 KB


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files with different bytes but the same motion."""
    folder = tmp_path_factory.mktemp("many")
    kp.save(kp.demo_motion(fps=10)[:6], folder / "first.bvh")
    text = (folder / "first.bvh").read_text()
    paths = [folder / f"a take with quite a long name {n:05d}.bvh" for n in range(MANY)]
    for n, path in enumerate(paths):
        path.write_text(text + "\n" * (n + 1))
    return [str(path) for path in paths]


@pytest.fixture
def quick(files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Analyse only the first file, and store all files with that analysis."""
    with Library(tmp_path / "limits.db") as library:
        first = run_prepare_job(
            PrepareJob(Path(files[0]).read_bytes(), files[0], files[0], library._store.limits, None)
        )

    def prepare_clips(_: Engine, jobs: Iterable[PrepareJob], n_files: int) -> Iterator[Outcome[PreparedClip]]:
        for n, job in enumerate(jobs):
            yield Outcome(n, value=replace(first, data=job.data, hash=sha256_hex(job.data)))

    monkeypatch.setattr(Engine, "prepare_clips", prepare_clips)


@pytest.mark.parametrize("as_json", [False, True])
def test_memory_does_not_grow_with_the_clips(
    tmp_path: Path, files: list[str], quick: None, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with Library(tmp_path / "clips.db") as library:
        few: list[int] = []
        many: list[int] = []
        original = IngestProgressBar.show_file

        def show_file(bar: IngestProgressBar, progress: IngestProgress) -> None:
            for readings, last in ((few, FEW), (many, MANY)):  # the first files also create caches
                if last - WINDOW < progress.done <= last:
                    if not readings:
                        gc.collect()
                    base._remove_leftovers.cache_clear()  # limited to 1024 folders
                    readings.append(tracemalloc.get_traced_memory()[0])
            original(bar, progress)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(IngestProgressBar, "show_file", show_file)
            tracemalloc.start()
            assert library_add.run(library, files, {}, json=as_json, quiet=False) == 0
            tracemalloc.stop()
        assert len(library) == MANY
    assert len(few) == len(many) == WINDOW
    assert (min(many) - min(few)) / (MANY - FEW) < MAX_GROWTH_B, (few, many)
    text = capsys.readouterr().out
    if as_json:
        payload = json.loads(text)
        assert len(payload["added"]) == MANY == len({clip["hash"] for clip in payload["added"]})
        assert (payload["existing"], payload["failed"], payload["n_remaining"], payload["interrupted"]) == (
            [],
            [],
            0,
            False,
        )
    else:
        assert f"{MANY} of {MANY} files added" in text


def test_progress_bar_has_count_rate_and_remaining_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True, width=120, markup=False, highlight=False)
    monkeypatch.setattr(output, "stderr_console", lambda: terminal)
    with Library(tmp_path / "clips.db") as library:
        clip = library.add(kp.demo_motion(fps=10)[:6], name="[bold]walk\x1b[2J")
    progress = IngestProgress(
        "walk.bvh", clip, "", total=10, added=3, existing=1, failed=0, motion_s=60.0, elapsed_s=4.0
    )
    assert (progress.motion_s_per_s, progress.remaining_s) == (15.0, 6.0)
    with IngestProgressBar(quiet=False) as bar:
        bar.show_file(progress)
        bar._bar.refresh()
        text = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "Adding" in text and "4/10" in text and "15 s of motion/s, 6.00 s left" in text
    assert "[bold]walk" in text and "\x1b[2J" not in text
    terminal.file = io.StringIO()
    with IngestProgressBar(quiet=True) as bar:
        bar.show_file(progress)
    assert terminal.file.getvalue() == ""
