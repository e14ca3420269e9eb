"""Errors of PostgreSQL as KeyposeError; none shows a password."""

from __future__ import annotations

from keypose.errors import FileError, FormatError, KeyposeError, OptionError
from keypose.library.db.postgres_extra import psycopg
from keypose.library.extra import sa

# Messages by prefix of SQLSTATE; the longest prefix counts.
_MESSAGES = {
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
_DAMAGE_CODES = ("XX001", "XX002")
_WRONG_SCHEMA_CODES = ("22", "23", "42", "0A")  # the tables are not those of a library


def translate_error(error: BaseException, location: str, busy_s: float) -> KeyposeError:
    """Return the KeyposeError for an error of the driver, bare or wrapped by SQLAlchemy."""
    if isinstance(error, KeyposeError):
        return error
    if isinstance(error, sa.exc.TimeoutError):
        return FileError(f"{location}: all connections have been in use for too long")
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, UnicodeEncodeError):
        return OptionError(f"{cause.object[:80]!a} has half a character (a lone surrogate), expected text")
    code = getattr(cause, "sqlstate", None) or ""
    first = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
    if code == "55P03":
        return FileError(f"{location}: another process has been writing for more than {busy_s:g} s")
    for start in sorted(_MESSAGES, key=len, reverse=True):
        if code.startswith(start):
            return FileError(f"{location}: {_MESSAGES[start].format(cause=first)}")
    if code in _DAMAGE_CODES:
        return FormatError(location, f"the database is damaged ({first}), expected a library of clips")
    if code.startswith(_WRONG_SCHEMA_CODES):
        return FormatError(location, f"its tables are not those of a library ({first})")
    if isinstance(cause, psycopg.OperationalError) and not code:
        return FileError(f"{location}: {_message_without_code(error, first)}")
    return FileError(f"{location}: cannot be used ({first})")


def _message_without_code(error: BaseException, first: str) -> str:
    """Return the message for errors without SQLSTATE: libpq has none before a connection exists or when one breaks."""
    if getattr(error, "connection_invalidated", False) or "closed" in first or "lost" in first:
        return _MESSAGES["08"].format(cause=first)
    return f"no connection ({first}), expected a server that answers, a database of it, and its user and password"
