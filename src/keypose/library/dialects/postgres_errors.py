"""Errors of PostgreSQL as errors of ours; none of them shows a password."""

from __future__ import annotations

from keypose.errors import FileError, FormatError, KeyposeError, OptionError
from keypose.library.dialects.postgres_extra import psycopg
from keypose.library.extra import sa

# By the first characters of SQLSTATE, the longest first: what happened, and what to do.
_SAYS = {
    "28": "the server refuses this user ({cause}), expected a user and a password that it knows",
    "3D": "no such database on the server ({cause})",
    "42501": "permission denied ({cause}); ask the administrator for the right to it",
    "40": "others were writing at the same time ({cause}); try again",
    "53100": "cannot be written (the disk of the server is full)",
    "53": "the server has no room for more ({cause}); try again later",
    "25006": "cannot be written ({cause}), expected a server that is no standby",
    "57P01": "the connection was lost ({cause}); what was not reported as done is not there: do it again",
    "57P02": "the connection was lost ({cause}); what was not reported as done is not there: do it again",
    "08": "the connection was lost ({cause}); whether the last change is there, the library says: look, or do it again",
}
_DAMAGED = ("XX001", "XX002")
_NOT_OURS = ("22", "23", "42", "0A")  # rows or tables that a library cannot have


def error_of(error: BaseException, where: str, busy_s: float) -> KeyposeError:
    """What an error of the driver, bare or in one of SQLAlchemy's, means for a person."""
    if isinstance(error, KeyposeError):
        return error
    if isinstance(error, sa.exc.TimeoutError):
        return FileError(f"{where}: all connections have been in use for too long")
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, UnicodeEncodeError):
        return OptionError(f"{cause.object[:80]!a} has half a character (a lone surrogate), expected text")
    code = getattr(cause, "sqlstate", None) or ""
    first = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
    if code == "55P03":
        return FileError(f"{where}: another process has been writing for more than {busy_s:g} s")
    for start in sorted(_SAYS, key=len, reverse=True):
        if code.startswith(start):
            return FileError(f"{where}: {_SAYS[start].format(cause=first)}")
    if code in _DAMAGED:
        return FormatError(where, f"the database is damaged ({first}), expected a library of clips")
    if code.startswith(_NOT_OURS):
        return FormatError(where, f"its tables are not those of a library ({first})")
    if isinstance(cause, psycopg.OperationalError) and not code:
        return FileError(f"{where}: {_without_code(error, first)}")
    return FileError(f"{where}: cannot be used ({first})")


def _without_code(error: BaseException, first: str) -> str:
    """libpq gives no code for what happens before there is a connection, or when one breaks."""
    if getattr(error, "connection_invalidated", False) or "closed" in first or "lost" in first:
        return _SAYS["08"].format(cause=first)
    return f"no connection ({first}), expected a server that answers, a database of it, and its user and password"
