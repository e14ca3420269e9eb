"""Many clips at once: which files are meant, where the results go, and one map over all of them."""

from keypose.batch.pool import Failure, Outcome, default_jobs, map_clips

__all__ = ["Failure", "Outcome", "default_jobs", "map_clips"]
