"""Motions within a promised error: numbers on grids as coarse as the error allows, foretold, then range coded."""
