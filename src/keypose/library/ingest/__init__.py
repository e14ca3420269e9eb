"""Many files into a library: prepared by many processes or machines, written by one.

``engine.py`` says who does the work, ``run.py`` hands it out and keeps what comes back, ``gathering.py`` remembers what
was told of, ``verb.py`` is the whole.
"""

from keypose.library.ingest.gathering import Gathering
from keypose.library.ingest.verb import ingest

__all__ = ["Gathering", "ingest"]
