"""Batch work on many clips: file discovery, planning of targets, a worker pool, and one job module per command."""

from keypose.batch.pool import Failure, Outcome, default_jobs, map_clips

__all__ = ["Failure", "Outcome", "default_jobs", "map_clips"]
