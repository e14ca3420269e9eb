"""A database and the blobs that belong to it: what every verb of the library works on."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.errors import FormatError
from keypose.formats import Limits
from keypose.library.blobs import Blobs
from keypose.library.database import Database
from keypose.library.extra import sa
from keypose.library.material import packed, read_alone
from keypose.library.nouns import Clip
from keypose.library.tables import blobs
from keypose.library.wording import file_stem
from keypose.model import Motion

# Which file may be removed is decided by the table of blobs alone, and only while nobody else can write: who adds a
# clip makes sure, with the same lock, that its bytes are there.


@dataclass(frozen=True)
class Store:
    """Where clips are kept, and how much one may ask for."""

    database: Database
    blobs: Blobs
    limits: Limits

    def bytes_of(self, clip: Clip) -> bytes:
        """The bytes of a clip as they are kept, checked."""
        return self.blobs.read(clip.blob, clip.bytes)

    def motion(self, clip: Clip) -> Motion:
        """The frames of a clip, from its bytes."""
        where = self.blobs.stand_in(f"{file_stem(clip.name)}{clip.suffix}")
        try:
            return read_alone(packed(self.bytes_of(clip), where, self.limits), where, self.limits)
        except FormatError as error:
            if error.path != str(where):
                raise
            raise type(error)(f"{clip.name}{clip.suffix}", error.problem, line=error.line, byte=error.byte) from None

    def drop_bytes(self, digest: str) -> bool:
        """Removes bytes that belong to no clip; whether they did not."""
        with self.database.writing() as connection:
            if connection.execute(sa.select(blobs.c.hash).where(blobs.c.hash == digest)).first():
                return False
            self.blobs.remove(digest)
            return True
