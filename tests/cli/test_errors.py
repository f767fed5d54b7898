"""What is refused, with which exit code and which words; and that nothing is written then."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dsreg.cli import app
from tests.cli.conftest import Dsreg

# command, exit code, what is said, what helps
REFUSED = [
    ("ad", 2, "no such command 'ad'", "did you mean 'add'?"),
    ("add", 2, "missing argument 'NAME'", "dsreg add --help"),
    ("add x --colum a=b", 2, "no such option: --colum", "did you mean --column?"),
    ("export --targt x", 2, "no such option: --targt", "did you mean --target?"),
    ("list -q", 2, "no such option: -q", "dsreg -q list"),
    ("sync --accept both", 2, "'both' is not one of", "dsreg sync --help"),
    ("preview pairs -n 0", 2, "-n", "dsreg preview --help"),
    ("show pair", 2, "no dataset 'pair'", "did you mean `pairs`?"),
    ("show data/pairs.json", 2, "registered as 'pairs'", "use pairs"),
    ("-C nowhere list", 2, "-C names no folder", "registry/"),
    ("add nothing", 2, "there is no data/nothing.*", "dsreg add nothing FILE"),
    ("add x missing.json", 2, "missing.json: there is no such file", "check the path"),
    ("add x org/name", 2, "there is no such file", "--hf-hub-url"),
    ("add x s3://bucket/x.json", 2, "there is no such file", "--cloud-file-name"),
    ("add pairs data/pairs.json", 2, "'pairs' is registered already", "dsreg set pairs"),
    ("add PAIRS data/pairs.json", 2, "differ only in upper and lower case", "another name"),
    ("add a,b data/pairs.json", 2, "a comma", "letters"),
    ("add x data/chat.jsonl --format alpaca", 2, "", ""),
    ("add x data/chat.jsonl --format opnai", 2, "there is no format `opnai`", "did you mean `openai`?"),
    ("add x data/chat.jsonl --format kto", 2, "only a target", "formats list"),
    ("add x data/chat.jsonl --column messages", 2, "--column messages: expected KEY=VALUE", ""),
    ("add x data/chat.jsonl --column id=a --column id=b", 2, "--column id is given twice", ""),
    ("add x data/chat.jsonl --tag rol=a", 2, "no tag `rol`", "role_tag"),
    ("add x data/chat.jsonl --target nope", 2, "there is no format `nope`", ""),
    ("add x data/chat.jsonl --option modl=x --target nova-sft", 2, "no option `modl`", "did you mean `model`?"),
    ("add x data/chat.jsonl --option nova-sft.model=x", 2, "model=x of nova-sft: expected lite-2", ""),
    ("add x data/chat.jsonl --hf-hub-url a/b", 2, "one source", "give one"),
    ("add x --hf-hub-url a/b --ms-hub-url a/b", 2, "one source", "give one"),
    ("add x --hf-hub-url a/b", 2, "its format cannot be detected", "--format alpaca | "),
    ("add x --hf-hub-url a/b --format verl", 2, "LlamaFactory cannot read verl", "download"),
    ("add x --adopt --format alpaca", 2, "--adopt takes the entry as it stands", "dsreg set x"),
    ("add x --adopt", 2, "no entry 'x'", ""),
    ("set pairs", 2, "nothing to change", "dsreg set --help"),
    ("set pairs --unset rankin", 2, "pairs has no `rankin`", "did you mean `ranking`?"),
    ("set pairs --unset columns.mesages", 2, "`columns` of pairs has no `mesages`", "did you mean `messages`?"),
    ("rename pairs pairs", 2, "'pairs'", ""),
    ("remove pairs", 2, "there is nobody to ask", "dsreg remove -y pairs"),
    ("export", 2, "there is no --target", "formats list"),
    ("export --target nova-sfd", 2, "there is no format `nova-sfd`", "did you mean `nova-sft`?"),
    ("export pairs --target nova-sft", 2, "only by choosing an answer", "--take chosen or --take rejected"),
    ("export pairs --target nova-sft --take chosn", 2, "--take chosn", "did you mean `chosen`?"),
    ("export pairs --target openai --skip sytem", 2, "there is no feature `sytem`", "features: "),
    ("export pairs --target openai --strip tool_calls", 2, "cannot be stripped", "--skip tool_calls"),
    ("export pairs --target openai --option containr=x", 2, "no option `containr`", "did you mean `container`?"),
    ("export pairs --target openai --option container=x", 2, "container=x", ""),
    ("export pairs --target openai -o data/pairs.json", 2, "is the input itself", "-o"),
    ("export pairs --target openai -o ../escape/", 0, "", ""),
    ("export pairs --target openai --take chosen -o rows.csv", 2, "rows.csv: .csv files cannot be written", ".jsonl"),
    ("export pairs --target openai --take chosen -o a.txt --dry-run", 2, ".txt files cannot be written", ".jsonl"),
    ("convert data/pairs.json --target kto --format sharegpt -o a.arrow --dry-run", 2, ".arrow files cannot", ".jsonl"),
    ("convert nofile --target openai", 2, "nofile: there is no such file", "- reads standard input"),
    ("convert data/pairs.json --target openai --json", 2, "both go to standard output", "-o FILE"),
    ("convert data/chat.jsonl --target nova-dpo", 2, "sft rows cannot become nova-dpo", "targets that fit"),
    ("preview pairs --take chosen", 2, "need a --target", ""),
    ("render pairs --target kto -o data/pairs.json", 2, "is the input itself", ""),
    ("formats show opnai", 2, "there is no format `opnai`", "did you mean `openai`?"),
    ("formats list --for nov", 2, "no format is for `nov`", "nova"),
    ("formats new ../x --like openai", 2, "cannot be a format's id", "lower-case"),
    ("formats new openai --like kto", 2, "there is a format openai already", "another id"),
]


@pytest.mark.parametrize(("command", "code", "said", "helps"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(dsreg: Dsreg, project: Path, command: str, code: int, said: str, helps: str) -> None:
    before = contents(project)
    done = dsreg(*command.split())
    assert done.code == code, done
    assert said in done.err and helps in done.err
    assert "Traceback" not in done.err
    if code:
        assert not done.out
        said_first = [line for line in done.err.splitlines() if not line.startswith("detected ")]
        assert said_first[0].startswith("error: ")
        assert contents(project) == before


def contents(project: Path) -> dict[Path, bytes]:
    """All files but dsreg's untracked ones."""
    return {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".dsreg" not in path.parts}


def test_findings_have_exit_code_1(dsreg: Dsreg, project: Path) -> None:
    (project / "data" / "pairs.json").write_text('[{"conversations": 1, "chosen": {}, "rejected": {}}, {}]')
    done = dsreg("export", "pairs", "--target", "nova-dpo")
    assert done.code == 1
    assert "data/pairs.json:1: DS" in done.err
    assert "2 of 2 rows rejected, nothing written" in done.err and "--skip-invalid" in done.err
    assert not (project / "exports" / "nova-dpo" / "pairs.jsonl").exists()


def test_many_exports_outlive_a_bad_one(dsreg: Dsreg, project: Path) -> None:
    assert dsreg("-q", "add", "chat").code == 0
    assert dsreg("-q", "add", "mydata").code == 0
    (project / "data" / "chat.jsonl").write_text('{"messages": 1}\n')
    done = dsreg("export", "--target", "openai")
    assert done.code == 1
    assert "mydata -> exports/openai/mydata.jsonl" in done.err and "1 of 1 rows rejected" in done.err


def test_missing_data_is_an_error_of_the_whole(dsreg: Dsreg, project: Path) -> None:
    assert dsreg("-q", "add", "mydata").code == 0
    (project / "data" / "pairs.json").unlink()
    done = dsreg("export", "--target", "openai")
    assert done.code == 2
    assert "the data file does not exist" in done.err
    assert (project / "exports" / "openai" / "mydata.jsonl").exists()


def test_a_declined_question_is_a_refusal(dsreg: Dsreg, project: Path) -> None:
    done = dsreg("remove", "pairs", stdin="no\n", terminal=True)
    assert (done.code, "nothing was removed" in done.err) == (2, True)
    assert (project / "registry" / "pairs.toml").exists()
    assert dsreg("remove", "pairs", stdin="y\n", terminal=True).code == 0
    assert not (project / "registry" / "pairs.toml").exists()


def test_an_interrupt(dsreg: Dsreg, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsreg.registry.load_all", _raising(KeyboardInterrupt()))
    assert dsreg("list").code == 130


def test_nobody_reads_on(dsreg: Dsreg, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsreg.registry.load_all", _raising(BrokenPipeError(32, "Broken pipe")))
    done = dsreg("list")
    assert (done.code, done.err) == (141, "")


def test_the_system_refuses(dsreg: Dsreg, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsreg.registry.load_all", _raising(OSError(28, "No space left on device", "x\x1b[2J")))
    done = dsreg("list")
    assert (done.code, done.err) == (2, "error: x\\x1b[2J: No space left on device\n")


def test_a_bug_leaves_a_report_without_data(
    dsreg: Dsreg, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, project: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("dsreg.registry.load_all", _raising(KeyError("a secret of the data")))
    done = dsreg("list")
    (report,) = tmp_path.glob("dsreg-crash-*.txt")
    assert done.code == 3 and str(report) in done.err and "secret" not in done.err
    text = report.read_text()
    assert "command: dsreg list" in text and "Python" in text and "cli/list.py" in text and "KeyError" in text
    assert "secret" not in text


def test_the_exit_code_reaches_the_shell(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["dsreg", "show", "nobody"])
    assert app.main() == 2


def _raising(error: BaseException) -> object:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail
