from keypose.formats.base import Format, ReadOptions, Source
from keypose.model import Motion


def _read(source: Source, options: ReadOptions) -> Motion:
    raise source.error("not yet")


FORMAT = AMC = ASF = Format("?", (), lambda head: False, _read)
FORMATS = (FORMAT,)
