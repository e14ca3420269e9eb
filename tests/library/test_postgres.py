"""A library in PostgreSQL: clear errors, durable changes, and the same results as SQLite."""

from __future__ import annotations

import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

import keypose as kp
from keypose.errors import FileError, FormatError, KeyposeError, OptionError
from keypose.library.db import postgres_setup
from keypose.library.db.postgres import translate_error
from keypose.library.extra import sa
from keypose.library.library import Library
from keypose.library.rows import parse_query_words, split_words
from keypose.library.tables import clips
from support.clip_rows import insert_clip
from support.errors import raises
from support.postgres_server import Server


@pytest.fixture(scope="module")
def motions() -> list[kp.Motion]:
    motion = kp.demo_motion(fps=10)
    return [replace(motion[start : start + 12], name=f"take_{start}") for start in range(3)]


@pytest.fixture
def library(postgres_url: str, tmp_path: Path) -> Iterator[Library]:
    with Library(postgres_url, blobs=tmp_path / "blobs", busy_s=5.0) as new_library:
        yield new_library


def schema_of(url: str) -> str:
    return url.partition("schema=")[2]


def run(postgres: Server, *statements: str, database: str = "postgres") -> list[tuple[object, ...]]:
    with psycopg.connect(postgres.url(database=database), autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


# What cannot be opened


def format_error(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error)


def test_no_error_and_no_repr_shows_the_password(postgres: Server, library: Library, tmp_path: Path) -> None:
    assert postgres.password not in repr(library) and "keypose@127.0.0.1" in repr(library)
    assert postgres.password not in repr(library._store.database.dialect.__dict__)
    wrong = (
        postgres.url(password="a-wrong-one"),
        postgres.url(database="none"),
        postgres.url(password="a-wrong-one").replace(str(postgres.port), "1"),
        postgres.url(password="a-wrong-one", schema="Bad"),
        postgres.url(password="a-wrong-one").replace("postgresql", "mysql"),
        f"postgresql://keypose:a-wrong-one@127.0.0.1:{postgres.port}",
        "postgresql://keypose:a-wrong-one@[::1/postgres",
    )
    for url in wrong:
        with pytest.raises(KeyposeError) as raised:
            Library(url, blobs=tmp_path)
        assert raised.value.expected is not None or raised.value.path is not None
        assert "a-wrong-one" not in format_error(raised.value) and postgres.password not in format_error(raised.value)


def test_a_wrong_password_a_missing_database_and_no_server_have_different_errors(
    postgres: Server, tmp_path: Path
) -> None:
    """The text of the server is passed on."""
    with raises(FileError, code="no_connection") as info:
        Library(postgres.url(password="wrong"), blobs=tmp_path)
    assert "password authentication failed" in info.value.problem
    with raises(FileError, code="no_connection") as info:
        Library(postgres.url(database="none"), blobs=tmp_path)
    assert 'database "none" does not exist' in info.value.problem
    with raises(FileError, code="no_connection") as info:
        Library(postgres.url().replace(str(postgres.port), "1"), blobs=tmp_path)
    assert "127.0.0.1:1/postgres" in str(info.value.path)


def test_missing_libraries_and_other_schemas_are_refused(postgres: Server, postgres_url: str, tmp_path: Path) -> None:
    with raises(FileError, code="unknown_library"):
        Library(postgres_url, create=False)
    schema = schema_of(postgres_url)
    run(postgres, f"CREATE SCHEMA {schema}", f"CREATE TABLE {schema}.letters (a integer)")
    with raises(FormatError, code="not_a_library"):
        Library(postgres_url, blobs=tmp_path)
    assert run(postgres, f"SELECT count(*) FROM pg_tables WHERE schemaname = '{schema}'") == [(1,)]


def test_missing_privileges_are_reported(postgres: Server, tmp_path: Path) -> None:
    run(postgres, "CREATE ROLE guest LOGIN PASSWORD 'guest'", "CREATE DATABASE plain")
    guest = postgres.url(user="guest", password="guest", database="plain")
    with raises(FileError, hint="ask the administrator: CREATE EXTENSION vector"):
        Library(guest, blobs=tmp_path)
    run(postgres, "CREATE EXTENSION vector", database="plain")
    with raises(FileError, code="permission") as info:
        Library(guest, blobs=tmp_path)
    assert "permission denied for database plain" in info.value.problem
    run(postgres, "GRANT CREATE ON DATABASE plain TO guest")
    with Library(guest, blobs=tmp_path / "blobs") as library:
        assert library.verify() == ()


@pytest.mark.parametrize(
    ("what", "minimum", "fields"),
    [
        ("MIN_SERVER", 99, {"expected": "99 or newer"}),
        ("MIN_PGVECTOR", (9,), {"hint": "ask the administrator: ALTER EXTENSION vector UPDATE"}),
    ],
)
def test_too_old_versions_are_refused(
    postgres_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    minimum: object,
    fields: dict[str, str],
) -> None:
    monkeypatch.setattr(postgres_setup, what, minimum)
    with raises(FileError, **fields):
        Library(postgres_url, blobs=tmp_path)


CODES = {
    "53100": ("disk_full", "cannot be written (the disk of the server is full)"),
    "55P03": ("busy", "another process has been writing for more than 3 s"),
    "40001": ("busy", "others were writing at the same time (what the server says); try again"),
    "25006": ("read_only", "cannot be written (what the server says), expected a server that is no standby"),
    "57P01": ("connection_lost", "the connection was lost (what the server says)"),
    "42501": ("permission", "permission denied (what the server says); ask the administrator"),
    "XX001": ("library_damaged", "the database is damaged (what the server says), expected a library of clips"),
    "42P01": ("not_a_library", "its tables are not those of a library (what the server says)"),
    "58030": ("file", "cannot be used (what the server says)"),
}


@pytest.mark.parametrize("code", CODES)
def test_messages_by_sqlstate(code: str) -> None:
    """Messages of the database are pinned here only."""
    error = translate_error(psycopg.errors.lookup(code)("what the server says"), "postgresql://host/db", 3.0)
    assert (error.code, error.path) == (CODES[code][0], "postgresql://host/db")
    assert str(error).startswith(f"postgresql://host/db: {CODES[code][1]}")


def test_without_psycopg_the_error_names_the_pip_command_and_sqlite_needs_none(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None; sys.modules['fsspec'] = None\n"
        "from keypose.library.library import Library\n"
        "try: Library('postgresql://x/y')\n"
        "except ImportError as error: print(error)\n"
        "try: Library('{path}', blobs='memory://x')\n"
        "except ImportError as error: print(error)\n"
    ).replace("{path}", str(tmp_path / "clips.db"))
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.stdout.splitlines() == [
        "a library in PostgreSQL needs: pip install 'keypose[postgres]'",
        "bytes in an object store need: pip install 'keypose[objects]'",
    ], process.stderr


# Where the bytes are


def test_the_location_of_the_blobs_is_recorded(postgres_url: str, tmp_path: Path, motions: list[kp.Motion]) -> None:
    with raises(OptionError, option="blobs", value=None):
        Library(postgres_url)
    with Library(postgres_url, blobs=tmp_path / "bytes") as library:
        library.add(motions[0])
    with Library(postgres_url, create=False) as library:
        assert library.get("take_0").n_frames == 12
    with raises(OptionError, option="blobs", value=str(tmp_path / "other")):
        Library(postgres_url, blobs=tmp_path / "other")


# Many at once


def test_writers_wait_for_each_other_up_to_the_timeout(
    library: Library, postgres_url: str, motions: list[kp.Motion]
) -> None:
    with Library(postgres_url, busy_s=0.05) as hasty:
        with (
            library._store.database.begin_write(),
            raises(FileError, code="busy"),
        ):
            hasty.add(motions[0])
        assert hasty.add(motions[0]).n_frames == 12


def test_a_reader_sees_one_snapshot(library: Library, postgres_url: str, motions: list[kp.Motion]) -> None:
    count = sa.select(sa.func.count()).select_from(clips)
    with library._store.database.begin_read() as connection:
        assert connection.scalar(count) == 0
        with Library(postgres_url) as other:
            other.add(motions[0])
        assert connection.scalar(count) == 0
        with pytest.raises(sa.exc.InternalError, match="read-only transaction"), connection.begin_nested():
            connection.execute(sa.delete(clips))
    assert len(library) == 1


def test_many_threads_create_and_fill_one_library_at_once(
    postgres_url: str, tmp_path: Path, motions: list[kp.Motion]
) -> None:
    failed: list[BaseException] = []

    def add_motions(motion: kp.Motion) -> None:
        try:
            with Library(postgres_url, blobs=tmp_path / "blobs") as mine:
                for _ in range(2):
                    mine.add(motion)
                    mine.add(motions[0], name=f"also {motion.name}", tags=(motion.name,))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=add_motions, args=(motion,)) for motion in motions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with Library(postgres_url) as library:
        assert len(library) == 3 and len(library.clips("take")) == 3 and library.verify() == ()
        (shared,) = library.clips("also")
        assert set(shared.tags) == {"take_0", "take_1", "take_2"}


def test_clip_ids_are_never_reused(library: Library, motions: list[kp.Motion]) -> None:
    def numbers() -> list[int]:
        with library._store.database.begin_read() as connection:
            return list(connection.scalars(sa.select(clips.c.id)))

    library.add(motions[0])
    library.add(motions[1])
    used = numbers()
    library.remove("take_1")
    library.add(motions[1])
    assert max(numbers()) > max(used)


# Faults


def test_a_connection_killed_within_a_transaction_leaves_nothing(
    library: Library, postgres: Server, motions: list[kp.Motion]
) -> None:
    library.add(motions[0])
    database = library._store.database
    with raises(FileError, code="connection_lost"), database.begin_write() as connection:
        connection.execute(sa.update(clips).values(name="half"))
        me = connection.scalar(sa.text("SELECT pg_backend_pid()"))
        assert run(postgres, f"SELECT pg_terminate_backend({me}, 5000)") == [(True,)]
        connection.execute(sa.update(clips).values(note="half"))
    assert library.clip("take_0").note == "" and library.verify() == ()
    assert library.add(motions[1]).name == "take_1"  # nobody holds the lock


def test_a_server_that_was_restarted_is_no_error(library: Library, postgres: Server, motions: list[kp.Motion]) -> None:
    clip = library.add(motions[0])
    postgres.restart()
    assert library.clips("take") == (clip,) and library.add(motions[1]).name == "take_1"
    postgres.restart()
    assert library.verify() == () and len(library) == 2


DAMAGE = {
    "name": ("UPDATE clips SET name = 'tale'", "row"),
    "a tag more": ("INSERT INTO tags SELECT id, 'new' FROM clips", "row"),
    "size": ("UPDATE blobs SET bytes = bytes + 1", "row"),
    "no date": ("UPDATE clips SET added_at = 'soon'", "row"),
    "words lost": ("DELETE FROM words", "words"),
    "words changed": ("UPDATE words SET text = '{x}'", "words"),
    "an index not valid": (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_words_text'::regclass",
        "database",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_verify_finds_planted_damage(
    library: Library, postgres: Server, postgres_url: str, motions: list[kp.Motion], damage: str
) -> None:
    library.add(motions[0], tags=("some",))
    statement, kind = DAMAGE[damage]
    run(postgres, f"SET search_path = {schema_of(postgres_url)}", statement)
    results = library.verify()
    assert kind in {fault.kind for fault in results}, results
    if kind == "words":
        assert all(fault.fixed for fault in library.verify(fix=True)) and library.verify() == ()


# Words

NAMES = (
    "02_WalkLeft3", "Überschlag", "straße", "Ελλάδα ά", "Прыжок ёж", "跳躍 ジャンプ", "naïve café", "x" * 400, "a'b\\c:*&|!",
    "1e5 3.14 -7", "user@example.com http://a.b/c", "İstanbul ﬁn ①", "हिन्दी", "and or not near", "\ufdfa" * 60,
)  # fmt: skip
QUERIES = (
    "walk", "02", "left3", "uber", "ÜBER", "strasse", "straße", "ελλαδα", "ά", "прыж", "еж", "ёж", "跳", "ジャン", "cafe",
    "x" * 450, "b", "a'b", "1e5", "14", "example", "http", "istanbul", "fin", "1", "ह", "and", "or not", "NEAR", "\ufdfa",
)  # fmt: skip


def test_words_find_the_same_in_both_databases(library: Library, tmp_path: Path) -> None:
    results = []
    with Library(tmp_path / "clips.db") as other:
        for each in (library, other):
            database = each._store.database
            with database.begin_write() as connection:
                for number, name in enumerate(NAMES, 1):
                    insert_clip(connection, number, name)
                    database.dialect.index_words(connection, number, split_words(name))
            with database.begin_read() as connection:
                queries = [database.dialect.clips_with_words(parse_query_words(query)) for query in QUERIES]
                order = list(connection.scalars(sa.select(clips.c.id).order_by(clips.c.name)))
                results.append(([set(connection.scalars(each)) for each in queries], order))
                assert database.dialect.indexed_words(connection) == {
                    number: split_words(name) for number, name in enumerate(NAMES, 1)
                }
    assert results[0] == results[1] and sum(map(len, results[0][0])) > len(NAMES)


def test_the_maximum_number_and_length_of_words(library: Library) -> None:
    dialect = library._store.database.dialect
    words = split_words(" ".join(f"{n}{chr(0x20000 + n) * 600}" for n in range(3000)))
    assert len(words) == 2000 and max(map(len, words)) == 100
    with library._store.database.begin_write() as connection:
        insert_clip(connection, 1)
        dialect.index_words(connection, 1, words)
        assert list(connection.scalars(dialect.clips_with_words(words[-1:]))) == [1]
