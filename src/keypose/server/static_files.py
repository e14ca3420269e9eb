"""The built pages, read once, each also compressed. A name is looked up, so that no address can lead elsewhere."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("static")
SHELL = "index.html"
FOR_EVER = "public, max-age=31536000, immutable"  # names with a hash never mean another content
ASK_AGAIN = "no-cache"
LEAST_GAIN = 0.9  # of the size, for the compressed one to be sent
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}


@dataclass(frozen=True)
class StaticFile:
    """One file of the pages."""

    data: bytes
    zipped: bytes | None  # None: not worth it
    media_type: str
    tag: str
    keep: str  # Cache-Control


class StaticFiles:
    """All files of the pages; read again when they were built again."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        self._built_at: float | None = None
        self._files: dict[str, StaticFile] = {}

    @property
    def shell(self) -> StaticFile | None:
        """The one page that all addresses show; None: the pages were not built."""
        self.look()
        return self._files.get(SHELL)

    def get(self, name: str) -> StaticFile | None:
        """The file of that name, such as ``assets/main-1a2b.js``."""
        if name not in self._files:
            self.look()
        return self._files.get(name)

    def look(self) -> None:
        """Reads the files, if they are others than before."""
        try:
            built_at = (self.folder / SHELL).stat().st_mtime
        except OSError:
            self._built_at, self._files = None, {}
            return
        if built_at != self._built_at:
            self._files = {
                path.relative_to(self.folder).as_posix(): _read(path, in_assets=path.parent.name == "assets")
                for path in sorted(self.folder.rglob("*"))
                if path.is_file()
            }
            self._built_at = built_at


FILES = StaticFiles()


def _read(path: Path, *, in_assets: bool) -> StaticFile:
    data = path.read_bytes()
    zipped = gzip.compress(data, 9, mtime=0)
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return StaticFile(
        data,
        zipped if len(zipped) < LEAST_GAIN * len(data) else None,
        kind,
        f'"{hashlib.sha256(data).hexdigest()[:32]}"',
        FOR_EVER if in_assets else ASK_AGAIN,
    )
