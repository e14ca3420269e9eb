"""What is typed to compare methods, in the words of the library; where results go, settled before any work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from keypose.batch.compare_kept import SUFFIX, Kept
from keypose.batch.inputs import Inputs
from keypose.cli.exits import UsageError
from keypose.errors import FileError, OptionError
from keypose.verbs.comparing.settings import (
    CONTENDERS,
    INBETWEENS,
    REFERENCES,
    REMOVED_PERCENT,
    Settings,
    instead,
    settings_of,
)
from keypose.verbs.comparing.tables import check_parquet, has_parquet

USUAL_INBETWEENS = ("linear", "fitted")


@dataclass(frozen=True)
class Targets:
    """The files that a run writes; None: not that one."""

    report: Path | None
    csv: Path | None
    parquet: Path | None
    overwrite: bool = False

    @property
    def main(self) -> Path | None:
        """The file that others stand beside."""
        return self.report or self.csv or self.parquet

    @property
    def files(self) -> list[Path]:
        """All of them."""
        return [file for file in (self.report, self.csv, self.parquet) if file is not None]


def settings_from(
    methods: Sequence[str],
    percent: Sequence[str],
    inbetweens: Sequence[str],
    *,
    curves: bool,
    fps: float | None,
    frames: tuple[int | None, int | None] | None,
) -> Settings:
    """What is compared, or an error that names the option."""
    names = _words(methods)
    for name in names:
        if name not in CONTENDERS and name not in REFERENCES:
            raise UsageError(f"--methods {name}: no such method{instead(name)}")
    between = _words(inbetweens) or USUAL_INBETWEENS
    for name in between:
        if name not in INBETWEENS:
            raise UsageError(f"--inbetweens {name}: expected one of {', '.join(INBETWEENS)}")
    percents = [_percent(text) for text in _words(percent)] or list(REMOVED_PERCENT)
    return settings_of(names or None, percents, between, curves=curves, fps=fps, frames=frames)


def _words(texts: Sequence[str]) -> tuple[str, ...]:
    """``a,b`` and ``a b`` alike."""
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def _percent(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < 100:
        raise UsageError(f"--percent {text}: expected numbers from 0 to below 100, such as 80,90")
    return value


def targets_from(
    report: Path | None, csv: Path | None, parquet: Path | None, inputs: Inputs, *, overwrite: bool
) -> Targets:
    """Where results go; with a page the tables stand beside it."""
    for option, path, suffix in (
        ("--report", report, ".html"),
        ("--csv", csv, ".csv"),
        ("--parquet", parquet, ".parquet"),
    ):
        if path is not None and path.suffix.lower() != suffix:
            raise OptionError(f"{option} {path}: expected a name that ends in {suffix}")
    if parquet is not None:
        check_parquet()
    if report is not None:
        csv = csv or report.with_suffix(".csv")
        parquet = parquet or (report.with_suffix(".parquet") if has_parquet() else None)
    targets = Targets(report, csv, parquet, overwrite)
    _check(targets.files, inputs, overwrite=overwrite)
    return targets


def _check(files: Sequence[Path], inputs: Inputs, *, overwrite: bool) -> None:
    read = {os.path.realpath(file.path) for file in inputs.files}
    for file in files:
        if os.path.realpath(file) in read:
            raise OptionError(f"{file}: is to be read, expected another name for results")
        if file.is_dir():
            raise FileError(f"{file}: is a folder, expected the name of a file")
        if not file.parent.is_dir():
            raise FileError(f"{file.parent}: no such folder")
        if os.path.lexists(file) and not overwrite:
            raise FileError(f"{file}: exists already; --overwrite replaces it")


def kept_beside(main: Path, *, fresh: bool) -> Kept:
    """The hidden folder of finished clips beside the results."""
    kept = Kept(main.with_name(f".{main.stem}.compare"))
    if os.path.lexists(kept.folder) and not kept.folder.is_dir():
        raise FileError(f"{kept.folder}: is a file, expected a folder for finished clips (*{SUFFIX})")
    if fresh:
        kept.forget_all_but(())
    return kept
