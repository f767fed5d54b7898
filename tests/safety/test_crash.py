"""A bug in dsreg: exit code 3 and a report with what repairs need, and nothing of anybody's data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.safety.conftest import ROW, run_apart, temps, write_rows

BUGS = {
    "while rows are read": "import dsreg.runner as m\nm.read_samples = lambda row, steps: row['a secret of mine']",
    "while a row is decoded": "import dsreg.rows.stream as m\nm._READERS['jsonl'] = lambda *_: 1 / 0",
    "while the output gets its name": "import os\nos.replace = lambda a, b: {}[open(a).read()]",
    "while the lock is written": "import dsreg.lock as m\nm.lock_bytes = lambda lock: lock.nothing",
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_leaves_a_report_and_no_output(project: Path, tmp_path: Path, bug: str) -> None:
    write_rows(project / "data/rivers.jsonl", [{**ROW, "output": "a secret of mine"}])
    before = f"import tempfile\ntempfile.tempdir = {str(tmp_path)!r}\n{BUGS[bug]}"
    done = run_apart(project, "export", "rivers", "--target", "pretrain", before=before)
    assert done.code == 3 and "this is a bug in dsreg" in done.err and "Traceback" not in done.err, done
    (report,) = tmp_path.glob("dsreg-crash-*.txt")
    text = report.read_text()
    assert str(report) in done.err and "secret" not in done.err + done.out
    assert re.search(r"^dsreg \d+\.\d+.*, Python 3\.", text) and "pyarrow" in text
    assert "command: dsreg export rivers --target pretrain" in text
    assert "/dsreg/" in text and re.search(r'File ".*", line \d+, in ', text)
    assert "a secret of mine" not in text.replace(BUGS[bug], "")
    assert not temps(project) and report.stat().st_mode & 0o077 == 0
    assert run_apart(project, "export", "rivers", "--target", "pretrain").code == 0, "the next run is not in the way"


def test_where_no_report_can_be_written(project: Path) -> None:
    before = f"import tempfile\ntempfile.tempdir = '/nowhere'\n{BUGS['while the lock is written']}"
    done = run_apart(project, "sync", before=before)
    assert done.code == 3 and "please report it" in done.err
