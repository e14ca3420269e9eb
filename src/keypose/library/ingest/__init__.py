"""Ingest of many files: prepared by worker processes or machines, written by one process.

``engine.py`` chooses the workers, ``run.py`` distributes jobs and writes their results, ``report_collector.py``
collects the report, ``ingest_files.py`` is the entry point.
"""

from keypose.library.ingest.ingest_files import ingest
from keypose.library.ingest.report_collector import ReportCollector

__all__ = ["ReportCollector", "ingest"]
