"""The wheel carries its templates and works where there is no checkout."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel.

    No index is asked: its dependencies are those of the environment that runs the tests, whose own dsreg is not seen,
    since `.pth` files of a folder that a `.pth` file adds are not read.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return folder / "bin" / "python"


def test_the_wheel_holds_code_and_templates_only(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "dsreg/templates/formats/nova-sft/format.toml" in names
    assert "dsreg/templates/converter.py.j2" in names
    assert {name.split("/")[0] for name in names} == {"dsreg", "dsreg_cli-0.1.0.dist-info"}
    assert not [name for name in names if "__pycache__" in name]


def test_one_conversion_from_the_wheel(python: Path, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('[{"instruction": "q", "input": "", "output": "a"}]')
    command = [str(python), "-I", "-m", "dsreg", "convert", "in.json", "--target", "nova-sft"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["messages"][1]["content"] == [{"text": "a"}]
    where = subprocess.run(
        [str(python), "-I", "-c", "import dsreg; print(dsreg.__file__)"], check=True, capture_output=True, text=True
    )
    assert where.stdout.startswith(str(python.parent.parent))
