"""What readers warn of while a library is searched or made anew, said once and under the names of clips."""

from __future__ import annotations

import os
import warnings
from types import TracebackType

from keypose.cli import output
from keypose.cli.said import in_part
from keypose.cli.wording import for_command_line
from keypose.errors import FormatWarning
from keypose.library.library import Library


class Noticed:
    """A context in which warnings of readers are kept in place of being printed by Python."""

    def __init__(self, library: Library, path: str = "") -> None:
        self._path = path  # of a file that is read too
        self._beside = os.fspath(library._store.blobs.stand_in("")) + os.sep
        self._catching = warnings.catch_warnings(record=True)
        self._caught: list[warnings.WarningMessage] = []

    def __enter__(self) -> Noticed:
        caught = self._catching.__enter__()
        assert caught is not None
        self._caught = caught
        warnings.simplefilter("always", FormatWarning)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._catching.__exit__(kind, error, at)
        for other in self._caught:
            if not issubclass(other.category, FormatWarning):
                warnings.showwarning(other.message, other.category, other.filename, other.lineno)
        if error is not None:
            self.say()

    @property
    def texts(self) -> list[str]:
        """What was warned of, each text once; a clip of the library by its name, not by a path that is none."""
        of_readers = (str(each.message) for each in self._caught if issubclass(each.category, FormatWarning))
        return list(dict.fromkeys(for_command_line(text.removeprefix(self._beside), self._path) for text in of_readers))

    def say(self) -> None:
        """``warning:`` lines, no more than a person may read."""
        for text in in_part(self.texts):
            output.warning(text)
