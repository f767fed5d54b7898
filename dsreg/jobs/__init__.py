"""A file on several cores: worker processes convert stretches of it; the output keeps the order."""

from dsreg.jobs.crew import jobs_for, run_jobs, run_rows_in_jobs
from dsreg.jobs.order import order_of
from dsreg.jobs.stretches import share

__all__ = ["jobs_for", "order_of", "run_jobs", "run_rows_in_jobs", "share"]
