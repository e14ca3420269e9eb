"""Every way of choosing keys, one file each, in one table. No method imports another."""

from keypose.methods import decimate, farthest, refine, saliency, salient, simplify, spread, synopsis, uniform
from keypose.methods.base import Method, Methods

METHODS: dict[str, Method] = {
    room.METHOD.name: room.METHOD
    for room in (salient, farthest, spread, synopsis, saliency, refine, simplify, decimate, uniform)
}

__all__ = ["METHODS", "Method", "Methods"]
