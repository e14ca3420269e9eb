"""Parse the options of ``keypose compare`` and check the output files before any work is done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from keypose.api.compare import CompareOptions
from keypose.api.compare.settings import (
    COMPARED_METHODS,
    INBETWEENS,
    REFERENCES,
    REMOVED_PERCENT,
    build_compare_options,
    suggest_method,
)
from keypose.api.compare.tables import check_parquet, has_parquet
from keypose.batch.compare_cache import SUFFIX, CompareCache
from keypose.batch.file_discovery import ClipFiles
from keypose.cli.exit_codes import UsageError
from keypose.errors import FileError, OptionError

DEFAULT_INBETWEENS = ("linear", "fitted")


@dataclass(frozen=True)
class OutputFiles:
    """The files that a run writes; None if not requested."""

    report: Path | None
    csv: Path | None
    parquet: Path | None
    overwrite: bool = False

    @property
    def main_file(self) -> Path | None:
        """Return the first requested file; the cache is stored beside it."""
        return self.report or self.csv or self.parquet

    @property
    def files(self) -> list[Path]:
        """Return all requested files."""
        return [file for file in (self.report, self.csv, self.parquet) if file is not None]


def parse_settings(
    methods: Sequence[str],
    percent: Sequence[str],
    inbetweens: Sequence[str],
    *,
    curves: bool,
    fps: float | None,
    frames: tuple[int | None, int | None] | None,
) -> CompareOptions:
    """Return the settings of the comparison, or raise an error that names the option."""
    names = _split_words(methods)
    for name in names:
        if name not in COMPARED_METHODS and name not in REFERENCES:
            raise UsageError(f"--methods {name}: no such method{suggest_method(name)}")
    between = _split_words(inbetweens) or DEFAULT_INBETWEENS
    for name in between:
        if name not in INBETWEENS:
            raise UsageError(f"--inbetweens {name}: expected one of {', '.join(INBETWEENS)}")
    percents = [_parse_percent(text) for text in _split_words(percent)] or list(REMOVED_PERCENT)
    return build_compare_options(names or None, percents, between, curves=curves, fps=fps, frames=frames)


def _split_words(texts: Sequence[str]) -> tuple[str, ...]:
    """Split texts at commas."""
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def _parse_percent(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < 100:
        raise UsageError(f"--percent {text}: expected numbers from 0 to below 100, such as 80,90")
    return value


def parse_outputs(
    report: Path | None, csv: Path | None, parquet: Path | None, inputs: ClipFiles, *, overwrite: bool
) -> OutputFiles:
    """Return the output files, checked; with a page, tables are written beside it."""
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
    targets = OutputFiles(report, csv, parquet, overwrite)
    _check_outputs(targets.files, inputs, overwrite=overwrite)
    return targets


def _check_outputs(files: Sequence[Path], inputs: ClipFiles, *, overwrite: bool) -> None:
    input_paths = {os.path.realpath(file.path) for file in inputs.files}
    for file in files:
        if os.path.realpath(file) in input_paths:
            raise OptionError(f"{file}: is to be read, expected another name for results")
        if file.is_dir():
            raise FileError(f"{file}: is a folder, expected the name of a file")
        if not file.parent.is_dir():
            raise FileError(f"{file.parent}: no such folder")
        if os.path.lexists(file) and not overwrite:
            raise FileError(f"{file}: exists already; --overwrite replaces it")


def open_cache(main: Path, *, fresh: bool) -> CompareCache:
    """Return the cache of finished clips, a hidden folder beside the results; empty it if ``fresh``."""
    cache = CompareCache(main.with_name(f".{main.stem}.compare"))
    if os.path.lexists(cache.folder) and not cache.folder.is_dir():
        raise FileError(f"{cache.folder}: is a file, expected a folder for finished clips (*{SUFFIX})")
    if fresh:
        cache.prune(())
    return cache
