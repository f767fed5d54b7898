"""A generated script and `export` give the same rows and the same rejects."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dsreg.codegen.converter import render_converter
from tests.codegen.cases import Outcome, conversion, read_lines, run_apart, run_here, run_script

PAIRS: list[tuple[str, str, dict[str, Any]]] = [
    ("alpaca_sft", "nova-sft", {}),
    ("alpaca_sft", "openai", {}),
    ("alpaca_sft", "pretrain", {}),
    ("alpaca_preference", "kto", {}),
    ("alpaca_preference", "openai", {"take": None}),
    ("alpaca_kto", "nova-sft", {"take": "desirable"}),
    ("sharegpt_tools", "nova-sft", {}),
    ("sharegpt_tools", "openai", {"skip": frozenset(["parallel_tools"])}),
    ("sharegpt_preference", "nova-sft", {"take": "rejected"}),
    ("sharegpt_kto", "kto", {"strip": frozenset(["system"])}),
    ("openai_tools", "alpaca", {}),
    ("openai_tools", "sharegpt", {"skip": frozenset(["text_beside_call"])}),
    ("images_sharegpt", "openai", {}),
    ("pretrain_txt", "pretrain", {}),
    ("hf_preference", "sharegpt", {}),
    ("verl_math", "openai", {}),
    ("alpaca_sft", "hf-prompt-completion", {}),
    ("alpaca_preference", "hf-prompt-completion", {"take": "chosen"}),
    ("sharegpt_preference", "hf-preference", {}),
]


@pytest.mark.parametrize(("name", "target", "choices"), PAIRS, ids=lambda value: value if type(value) is str else "")
def test_cookbook(name: str, target: str, choices: dict[str, Any], tmp_path: Path) -> None:
    expected = run_here(conversion(name, target, **choices))
    assert expected.rows or expected.rejects
    assert run_apart(conversion(name, target, **choices), tmp_path) == expected


GOOD = '{"instruction": "Name a river.", "output": "The Seine.", "note": 1}'
CHINESE = '{"instruction": "说出一条河。", "output": "长江。"}'
DEEP = "[" * 3000 + "]" * 3000


EMOJI = r'"\ud83d\ude00"'
HALVES = [r'"\ud800"', EMOJI, r'{"\uDFFF": 1}', r'"\udc00 x"']
TWICE = r'{"k": 1, "k": 2}'
ESCAPED = r'"\u006futput": "The Rhine."'
NESTED = '["output", {"output": 1}]'


def alpaca(text: str) -> str:
    """A row whose note is this JSON text."""
    return f'{{"instruction": "Name a river.", "output": "The Rhine.", "note": {text}}}'


def lines(*rows: str) -> bytes:
    """JSON Lines of these texts."""
    return "".join(f"{row}\n" for row in rows).encode()


FILES: dict[str, tuple[str, bytes]] = {
    "byte order mark": ("a.jsonl", b"\xef\xbb\xbf" + f"{GOOD}\n{CHINESE}\n".encode()),
    "UTF-16": ("a.jsonl", f"{GOOD}\n{CHINESE}\n".encode("utf-16")),
    "UTF-16 without a mark": ("a.jsonl", f"{GOOD}\n{GOOD}\n".encode("utf-16-le")),
    "GBK": ("a.jsonl", f"{CHINESE}\n{CHINESE}\n{CHINESE}\n".encode("gbk")),
    "a line of GBK": ("a.jsonl", f"{GOOD}\n{GOOD}\n".encode() + CHINESE.encode("gbk") + f"\n{GOOD}\n".encode()),
    "CRLF": ("a.jsonl", f"{GOOD}\r\n\r\n{CHINESE}\r\n{{\r\n".encode()),
    "CRLF array": ("a.json", f"[\r\n{GOOD},\r\n{alpaca('NaN')},\r\n{CHINESE}\r\n]\r\n".encode()),
    "no line end at the end": ("a.jsonl", f"{GOOD}\n{CHINESE}".encode()),
    "blank lines": ("a.jsonl", f"\n \n{GOOD}\n\n\t\n[]\n\n".encode()),
    "line separator inside": ("a.jsonl", '{"instruction": "a\u2028b", "output": "c\u0085d"}\n'.encode()),
    "not objects": ("a.jsonl", f'{GOOD}\n[1]\n"text"\n12\nnull\ntrue\n'.encode()),
    "not objects in an array": ("a.json", f'[{GOOD}, [1], "text", 12, null, true, -0.5]'.encode()),
    "broken lines": ("a.jsonl", f'{GOOD}\n{{"instruction": \n{GOOD[:-1]},}}\n# a\n{GOOD}{GOOD}\n// b\n'.encode()),
    "Python's notation": ("a.jsonl", lines(GOOD, alpaca("None"), "{'instruction': 1}", alpaca("True"))),
    "merge conflict": ("a.jsonl", f"{GOOD}\n<<<<<<< ours\n{CHINESE}\n=======\n{GOOD}\n>>>>>>> theirs\n".encode()),
    "control character": ("a.jsonl", f'{GOOD}\n{{"instruction": "a\tb"}}\n{alpaca(chr(34))}\n'.encode()),
    "NaN": ("a.jsonl", "\n".join([GOOD, *map(alpaca, ["NaN", "-Infinity", "1e999", "1e308", "[-1E+400]"])]).encode()),
    "NaN in an array": ("a.json", f"[{GOOD}, {alpaca('NaN')}, {alpaca('Infinity')}]".encode()),
    "lone surrogates": ("a.jsonl", lines(*map(alpaca, HALVES))),
    "lone surrogate in an array": ("a.json", f"[{GOOD},\n\n{alpaca(HALVES[3])}]".encode()),
    "big numbers": ("a.jsonl", lines(alpaca("123456789012345678901234567890"), alpaca("-9223372036854775809"))),
    "too many digits": ("a.jsonl", lines(GOOD, alpaca("1" * 5000))),
    "repeated column": ("a.jsonl", f'{GOOD[:-1]}, "output": "The Rhine."}}\n{CHINESE}\n'.encode()),
    "repeated column in an array": ("a.json", f'[{GOOD}, {GOOD[:-1]}, "output": "The Rhine."}}]'.encode()),
    "repeated column, escaped": ("a.jsonl", lines(f"{GOOD[:-1]}, {ESCAPED}}}", GOOD)),
    "repeated other key": ("a.jsonl", lines(GOOD[:-1] + ', "note": 2}', alpaca(TWICE))),
    "repeated other key beside an emoji": ("a.jsonl", lines(f'{GOOD[:-1]}, "note": {EMOJI}}}')),
    "column as text and as nested key": ("a.jsonl", lines(alpaca(NESTED))),
    "deep nesting": ("a.jsonl", f"{GOOD}\n{alpaca(DEEP)}\n{DEEP}\n".encode()),
    "deep nesting in an array": ("a.json", f"[{GOOD},\n{alpaca(DEEP)},\n{DEEP}]".encode()),
    "wrong types": ("a.jsonl", b'{"instruction": 1, "output": "a"}\n{"instruction": "a"}\n{"output": null}\n{}\n'),
    "array on one line": ("a.json", f"[{GOOD},{CHINESE}]".encode()),
    "array as .jsonl": ("a.jsonl", f" \n[\n{GOOD},\n{CHINESE}]\n".encode()),
    "lines as .json": ("a.json", f"{GOOD}\n{CHINESE}\n".encode()),
    "empty array": ("a.json", b" [ ] \n"),
    "brackets in text": ("a.json",
        b'[{"instruction": "a]},{\\"[", "output": "\\\\"}, {"instruction": "b", "output": "}"}]'),
    "pretty array": ("a.json", json.dumps([json.loads(GOOD), 1, json.loads(CHINESE)], indent=2).encode()),
    "pretty objects": ("a.json",
        f"{json.dumps(json.loads(GOOD), indent=1)}\n{json.dumps({'instruction': 1}, indent=1)}".encode()),
    "one pretty object": ("a.json", json.dumps(json.loads(GOOD), indent=2).encode()),
    "concatenated arrays": ("a.json", f"[{GOOD}]\n[{CHINESE}]\n".encode()),
    "comma at the end of an array": ("a.json", f"[{GOOD},\n]".encode()),
    "comma at the start of an array": ("a.json", f"[,{GOOD}]".encode()),
    "no comma in an array": ("a.json", f"[{GOOD}\n{GOOD}]".encode()),
    "array closed by a brace": ("a.json", f"[{GOOD}}}".encode()),
    "truncated array": ("a.json", f"[{GOOD},\n{GOOD[:20]}".encode()),
    "truncated line": ("a.jsonl", f"{GOOD}\n{GOOD[:20]}".encode()),
    "text before the data": ("a.jsonl", f"# rivers\n{GOOD}\n{GOOD}\n".encode()),
    "only text": ("a.jsonl", b"a\nb\n"),
    "empty": ("a.jsonl", b""),
    "white space": ("a.jsonl", b" \n\n"),
    "a mark alone": ("a.jsonl", b"\xef\xbb\xbf"),
    "zip": ("a.jsonl", b"PK\x03\x04 and so on"),
    "gzip": ("a.jsonl.gz", gzip.compress(f"{GOOD}\n{CHINESE}\n1\n".encode())),
    "gzip without its suffix": ("a.json", gzip.compress(f"[{GOOD}, {CHINESE}]".encode())),
    "broken gzip": ("a.jsonl.gz", gzip.compress(GOOD.encode() * 50)[:-9]),
    "csv": ("a.csv", '\ufeffinstruction,output,note\r\n"a ""b""\nc",007,\r\n\r\n好,NaN,1\r\n'.encode()),
    "csv, ragged": ("a.csv", b"instruction,output\na,b\na\na,b,c\n,\n"),
    "csv, quotes": ("a.csv", b'instruction,output\n"a"x,b\nc,d\n"e\nf"g,h\n i,"j"\n'),
    "csv, open quote": ("a.csv", b'instruction,output\na,b\n"c,d\n'),
    "csv, lone carriage return": ("a.csv", b"instruction,output\na\rb,c\n"),
    "csv, header twice": ("a.csv", b"instruction,instruction\na,b\n"),
    "csv, not UTF-8": ("a.csv", "instruction,output\n好,b\n".encode("gbk")),
    "csv that is JSON Lines": ("a.csv", f"{GOOD}\n{CHINESE}\n".encode()),
    "tsv": ("a.tsv", b'instruction\toutput\na,b\t"c\td"\n'),
    "tsv without a line end": ("a.tsv", b"output\tinstruction\na\tb"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_nasty_files(case: str, tmp_path: Path) -> None:
    name, data = FILES[case]
    file = tmp_path / name
    file.write_bytes(data)
    expected = run_here(conversion("alpaca_sft", "openai", file))
    assert run_apart(conversion("alpaca_sft", "openai", file), tmp_path) == expected


@pytest.mark.parametrize(
    "data", [b"a\n\n b \r\nc", b"[not JSON\n", b"{\n", "好\n\u2028\n".encode(), "好".encode("gbk"), b"[]"]
)
def test_text(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(data)
    assert run_apart(conversion("pretrain_txt", "pretrain", file), tmp_path) == run_here(
        conversion("pretrain_txt", "pretrain", file)
    )


def test_a_survey_refuses_the_file(tmp_path: Path) -> None:
    made = conversion("openai_tools", "nova-sft", options={"homogeneous": True})
    assert run_here(made) == Outcome(None, [])
    code, said = run_script(render_converter(made), made.source.files[0], tmp_path, "-o", str(tmp_path / "output"))
    assert code == 1
    assert "DS402" in said
    assert not (tmp_path / "output").exists()


def test_the_whole_is_refused_with_its_reason(tmp_path: Path) -> None:
    script = render_converter(conversion("alpaca_sft", "openai"))
    (tmp_path / "folder").mkdir()
    cases = {"folder": "not a regular file", "missing.jsonl": "No such file"}
    for magic, name, words in [
        (b"PAR1", "a.parquet", "pip install pyarrow"),
        (b"ARROW1\0\0", "a.arrow", "pip install pyarrow"),
        (b"\x28\xb5\x2f\xfd", "a.jsonl.zst", "zstd -d"),
    ]:
        (tmp_path / name).write_bytes(magic + b"rest")
        cases[name] = words
    for name, words in cases.items():
        code, said = run_script(script, tmp_path / name, tmp_path)
        assert code == 2
        assert words in said


def test_rejects_fail_unless_they_are_left_out(tmp_path: Path) -> None:
    script = render_converter(conversion("alpaca_sft", "openai"))
    file, output, rejects = tmp_path / "a.jsonl", tmp_path / "out.jsonl", tmp_path / "out.jsonl.rejects.jsonl"
    file.write_text(f"{GOOD}\n[]\n", "utf-8")
    code, said = run_script(script, file, tmp_path, "-o", str(output))
    assert (code, output.exists(), rejects.exists()) == (1, False, False)
    assert f"{file}:2: DS207 expected an object" in said

    code, said = run_script(script, file, tmp_path, "-o", str(output), "--skip-invalid")
    assert (code, len(read_lines(output))) == (0, 1)
    assert "2 read = 1 used + 0 set aside + 1 rejected; 1 written" in said
    assert [reject["code"] for reject in read_lines(rejects)] == ["DS207"]

    file.write_text(f"{GOOD}\n", "utf-8")
    assert run_script(script, file, tmp_path, "-o", str(output))[0] == 0
    assert not rejects.exists()


@pytest.mark.parametrize(("flags", "rows"), [((), "[\n%s\n]\n"), (("--container", "jsonl"), "%s\n")])
def test_standard_input_and_output(flags: tuple[str, ...], rows: str, tmp_path: Path) -> None:
    path = tmp_path / "converter.py"
    path.write_text(render_converter(conversion("alpaca_sft", "alpaca")), "utf-8")
    command = [sys.executable, "-I", str(path), "-", *flags]
    done = subprocess.run(command, input=CHINESE.encode(), capture_output=True, check=True)
    row = '{"instruction":"说出一条河。","input":"","system":"","history":[],"output":"长江。"}'
    assert done.stdout.decode() == rows % row
