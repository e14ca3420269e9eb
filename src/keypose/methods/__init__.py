"""Methods that select keys, one module each, in one table. No method imports another."""

from keypose.methods import decimate, farthest, refine, saliency, salient, simplify, spread, synopsis, uniform
from keypose.methods.base import Method, Methods

METHODS: dict[str, Method] = {
    module.METHOD.name: module.METHOD
    for module in (salient, farthest, spread, synopsis, saliency, refine, simplify, decimate, uniform)
}

__all__ = ["METHODS", "Method", "Methods"]
