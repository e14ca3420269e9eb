"""``keypose library add`` of many files: what is shown meanwhile, and that memory holds none of the clips."""

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
from keypose.cli import library_add_run, output
from keypose.cli.library_add_run import Bar
from keypose.library.blobs import hash_of
from keypose.library.ingest.engine import Engine
from keypose.library.library import Library
from keypose.library.nouns import IngestProgress
from keypose.library.preparing import Prepared, Work, do

FEW, MANY = 40, 140
MOST_GROWTH_B = 300  # for each clip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Different bytes, all of which hold the same motion."""
    folder = tmp_path_factory.mktemp("many")
    kp.save(kp.demo_motion(fps=10)[:6], folder / "first.bvh")
    text = (folder / "first.bvh").read_text()
    paths = [folder / f"a take with quite a long name {n:05d}.bvh" for n in range(MANY)]
    for n, path in enumerate(paths):
        path.write_text(text + "\n" * (n + 1))
    return [str(path) for path in paths]


@pytest.fixture
def quick(files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are analysed as the first one, and kept as what they are."""
    with Library(tmp_path / "limits.db") as library:
        first = do(Work(Path(files[0]).read_bytes(), files[0], files[0], library._store.limits, None))

    def outcomes(_: Engine, works: Iterable[Work], n_files: int) -> Iterator[Outcome[Prepared]]:
        for n, work in enumerate(works):
            yield Outcome(n, value=replace(first, data=work.data, hash=hash_of(work.data)))

    monkeypatch.setattr(Engine, "outcomes", outcomes)


@pytest.mark.parametrize("as_json", [False, True])
def test_memory_does_not_grow_with_the_clips(
    tmp_path: Path, files: list[str], quick: None, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with Library(tmp_path / "clips.db") as library:
        traced: list[int] = []
        really = Bar.hear

        def hear(bar: Bar, progress: IngestProgress) -> None:
            if progress.done in (FEW, MANY):  # the first ones make what is made once
                gc.collect()
                traced.append(tracemalloc.get_traced_memory()[0])
            really(bar, progress)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Bar, "hear", hear)
            tracemalloc.start()
            assert library_add_run.run(library, files, {}, json=as_json, quiet=False) == 0
            tracemalloc.stop()
        assert len(library) == MANY
    few, many = traced
    assert (many - few) / (MANY - FEW) < MOST_GROWTH_B, traced
    said = capsys.readouterr().out
    if as_json:
        told = json.loads(said)
        assert len(told["added"]) == MANY == len({clip["hash"] for clip in told["added"]})
        assert (told["known"], told["failed"], told["left"], told["interrupted"]) == ([], [], 0, False)
    else:
        assert f"{MANY} of {MANY} files added" in said


def test_the_bar_says_how_far_how_fast_and_how_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True, width=120, markup=False, highlight=False)
    monkeypatch.setattr(output, "messages", lambda: terminal)
    with Library(tmp_path / "clips.db") as library:
        clip = library.add(kp.demo_motion(fps=10)[:6], name="[bold]walk\x1b[2J")
    progress = IngestProgress("walk.bvh", clip, "", total=10, added=3, known=1, failed=0, motion_s=60.0, elapsed_s=4.0)
    assert (progress.motion_s_per_s, progress.left_s) == (15.0, 6.0)
    with Bar(quiet=False) as bar:
        bar.hear(progress)
        bar._bar.refresh()
        shown = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "Adding" in shown and "4/10" in shown and "15 s of motion/s, 6.00 s left" in shown
    assert "[bold]walk" in shown and "\x1b[2J" not in shown
    terminal.file = io.StringIO()
    with Bar(quiet=True) as bar:
        bar.hear(progress)
    assert terminal.file.getvalue() == ""
