from __future__ import annotations

import sys
from pathlib import Path

# The tests of generated code share tests/codegen/cases.py, however pytest is started.
sys.path.insert(0, str(Path(__file__).parents[2]))
