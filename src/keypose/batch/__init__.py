"""Batch work on many clips: file discovery, planning of target files, a worker pool, and one module with its job per
command."""

from keypose.batch.pool import Failure, Outcome, default_jobs, map_clips

__all__ = ["Failure", "Outcome", "default_jobs", "map_clips"]
