"""The fast way for rows that are text only: their texts are copied from the input, not decoded.

It can only be faster, never different: a row that is anything else goes to the portable reader and writer, in its
place, and they alone decide and explain.
"""

from dsreg.fast.plan import Plan
from dsreg.fast.run import decide_early, plan_for, run_fast

__all__ = ["Plan", "decide_early", "plan_for", "run_fast"]
