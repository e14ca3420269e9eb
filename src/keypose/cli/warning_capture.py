"""Capture the warnings of readers while a library is searched, and print each once."""

from __future__ import annotations

import os
import warnings
from types import TracebackType

from keypose.cli import output
from keypose.cli.message_options import translate_keywords
from keypose.cli.messages import truncate_texts
from keypose.errors import FormatWarning
from keypose.library.library import Library


class WarningCapture:
    """A context manager that collects warnings of readers instead of letting Python print them."""

    def __init__(self, library: Library, path: str = "") -> None:
        self._path = path  # of the query file, if any
        self._blob_prefix = os.fspath(library._store.blobs.placeholder_path("")) + os.sep
        self._catch_warnings = warnings.catch_warnings(record=True)
        self._records: list[warnings.WarningMessage] = []

    def __enter__(self) -> WarningCapture:
        records = self._catch_warnings.__enter__()
        assert records is not None
        self._records = records
        warnings.simplefilter("always", FormatWarning)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._catch_warnings.__exit__(kind, error, at)
        for record in self._records:
            if not issubclass(record.category, FormatWarning):
                warnings.showwarning(record.message, record.category, record.filename, record.lineno)
        if error is not None:
            self.print()

    @property
    def texts(self) -> list[str]:
        """Return each warning once; clips of the library are named without the path of their blob."""
        format_warnings = (str(each.message) for each in self._records if issubclass(each.category, FormatWarning))
        return list(
            dict.fromkeys(
                translate_keywords(text.removeprefix(self._blob_prefix), self._path) for text in format_warnings
            )
        )

    def print(self) -> None:
        """Print at most MAX_TEXTS ``warning:`` lines."""
        for text in truncate_texts(self.texts):
            output.print_warning(text)
