from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsreg.errors import NotFoundError, OutputError, RegistryError, UsageError
from dsreg.model import Dataset
from dsreg.project import Root, find_root, inside, open_project
from dsreg.registry import add, edit, load, load_all, look_up, names, remove, rename
from dsreg.tomledit import edited

WriteProject = Callable[[dict[str, str]], Path]

ALPACA = 'format = "alpaca"\nfile_name = "a.json"\n'


def project_of(root: Path) -> Root:
    (root / "registry").mkdir(exist_ok=True)
    return open_project(root)


def test_the_nearest_parent_with_a_registry_is_the_root(
    write_project: WriteProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_project({"outer/registry/": "", "outer/inner/dsreg.toml": "", "outer/inner/deep/er/": ""}) / "outer"
    monkeypatch.delenv("DSREG_ROOT", raising=False)
    assert find_root(root / "inner/deep/er") == root / "inner"
    assert find_root(root) == root
    assert find_root(root, explicit=root / "inner") == root / "inner"
    monkeypatch.setenv("DSREG_ROOT", str(root))
    assert find_root(root / "inner/deep") == root


def test_no_root_is_an_error_that_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DSREG_ROOT", raising=False)
    with pytest.raises(NotFoundError, match="no project here") as caught:
        find_root(tmp_path)
    assert "dsreg init" in caught.value.hint
    with pytest.raises(NotFoundError, match="-C names no folder"):
        find_root(explicit=tmp_path / "none")


@pytest.mark.parametrize("data_dir", ["../elsewhere", "/tmp", "a/../../b"])
def test_the_data_folder_lies_inside(write_project: WriteProject, data_dir: str) -> None:
    with pytest.raises(RegistryError, match="outside the project"):
        open_project(write_project({"dsreg.toml": f'data_dir = "{data_dir}"\n'}))


@pytest.mark.parametrize(
    "text, where, message",
    [
        ("data_dir = 1\n", "dsreg.toml:1", "`data_dir` must be text, not 1"),
        ("# x\n[check]\nignore = 'a'\n", "dsreg.toml:3", "`check.ignore` must be a list"),
        ("data_dir = \n", "dsreg.toml:1:12", "not valid TOML"),
    ],
)
def test_broken_settings_name_their_line(write_project: WriteProject, text: str, where: str, message: str) -> None:
    with pytest.raises(RegistryError, match=message) as caught:
        open_project(write_project({"dsreg.toml": text}))
    assert caught.value.where == where


BROKEN = {
    "no format": ('file_name = "a"\n', "registry/x.toml", "`format` is missing"),
    "wrong type": ('format = "alpaca"\n\nranking = "yes"\n', "registry/x.toml:3", "`ranking` must be true or false"),
    "a column": ('format = "alpaca"\n[columns]\nprompt = 1\n', "registry/x.toml:3", "`columns.prompt` must be text"),
    "inline table": ('format = "alpaca"\ncolumns = {prompt = 1}\n', "registry/x.toml:2", "`columns.prompt`"),
    "copy": ('format = "alpaca"\nllamafactory = "cp"\n', "registry/x.toml:2", "should be 'copy'"),
    "syntax": ('format = "alpaca"\nfile_name = a.json\n', "registry/x.toml:2:13", "not valid TOML"),
    "merge": ('<<<<<<< HEAD\nformat = "a"\n', "registry/x.toml:1:1", "git merge markers"),
    "not text": ("format = 'a'\udc80\n", "registry/x.toml:1", "not UTF-8"),
}


@pytest.mark.parametrize("text, where, message", BROKEN.values(), ids=BROKEN)
def test_one_broken_toml_hides_no_other(tmp_path: Path, text: str, where: str, message: str) -> None:
    project = project_of(tmp_path)
    (tmp_path / "registry/x.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    (tmp_path / "registry/good.toml").write_text(ALPACA)
    loaded = load_all(project)
    assert list(loaded.datasets) == ["good"]
    assert message in loaded.problems["x"].message
    assert loaded.problems["x"].where == where
    assert names(project) == ["good", "x"]


def test_unknown_keys_are_kept_and_named_with_what_was_meant(write_project: WriteProject) -> None:
    text = 'format = "alpaca"\nformating = "x"\nowner = 1\nfile_nam = "a"\n[tags]\nroletag = "r"\n'
    loaded = load_all(project_of(write_project({"registry/a.toml": text})))
    assert loaded.datasets["a"].extras == {"formating": "x", "owner": 1, "file_nam": "a"}
    found = [(notice.message, notice.where, notice.hint) for notice in loaded.notices]
    assert found == [
        ("unknown key `formating`", "registry/a.toml:2", "did you mean `format`?"),
        ("unknown key `owner`", "registry/a.toml:3", "LlamaFactory and dsreg ignore it; it is kept"),
        ("unknown key `file_nam`", "registry/a.toml:4", "did you mean `file_name`?"),
        ("unknown key `tags.roletag`", "registry/a.toml:6", "did you mean `role_tag`?"),
    ]


def test_two_files_for_one_name_are_a_problem(write_project: WriteProject) -> None:
    loaded = load_all(project_of(write_project({"registry/a%.toml": ALPACA, "registry/a%25.toml": ALPACA})))
    assert not loaded.datasets and "two files" in loaded.problems["a%"].message


@pytest.mark.parametrize(
    "asked, hint",
    [
        ("gardn_qa", "did you mean `garden_qa`?"),
        ("Garden_QA", "did you mean `garden_qa`?"),
        ("garden_qa.json", "use garden_qa"),
        ("data/garden_qa.json", "use garden_qa"),
        ("/srv/sets/garden_qa.json", "use garden_qa"),
        ("data\\garden_qa.json", "use garden_qa"),
        ("loose", "dsreg add --adopt loose"),
        ("zzzz", "`dsreg list` shows what is registered"),
    ],
)
def test_what_was_asked_for_is_recognised(write_project: WriteProject, asked: str, hint: str) -> None:
    files = {
        "registry/garden_qa.toml": 'format = "alpaca"\nfile_name = "garden_qa.json"\n',
        "registry/other.toml": ALPACA,
        "data/dataset_info.json": '{"loose": {}}',
    }
    project = project_of(write_project(files))
    assert look_up(project, "garden_qa") == "garden_qa"
    with pytest.raises(NotFoundError) as caught:
        look_up(project, asked)
    assert caught.value.hint == hint


def test_a_dataset_goes_through_its_life(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    path = add(project, "a/b", Dataset(format="alpaca", file_name="a.json"))
    assert path.name == "a%2Fb.toml" and path.read_text() == ALPACA
    assert load(project, "a/b") == Dataset(format="alpaca", file_name="a.json")
    edit(project, "a/b", Dataset(format="alpaca", file_name="b.json"))
    assert rename(project, "a/b", "c").read_text() == ALPACA.replace("a.json", "b.json")
    assert names(project) == ["c"]
    remove(project, "c")
    assert names(project) == []


@pytest.mark.parametrize("name", ["mydata", "MyData", "MYDATA"])
def test_a_taken_name_is_refused_in_any_case(tmp_path: Path, name: str) -> None:
    project = project_of(tmp_path)
    add(project, "mydata", Dataset(format="alpaca"))
    with pytest.raises(UsageError):
        add(project, name, Dataset(format="alpaca"))


def test_only_the_case_of_a_name_may_change(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    add(project, "mydata", Dataset(format="alpaca"))
    rename(project, "mydata", "MyData")
    assert names(project) == ["MyData"]


EDITS = {
    "comments and order stay": (
        '# mine\nfile_name = "a.json" # here\n\n# why\nformat = "alpaca"\n\n[columns] # c\nprompt = "q"\n',
        {"file_name": "b.json", "format": "alpaca", "columns": {"prompt": "q", "response": "r"}},
        '# mine\nfile_name = "b.json" # here\n\n# why\nformat = "alpaca"\n\n'
        '[columns] # c\nprompt = "q"\nresponse = "r"\n',
    ),
    "a new key goes before the tables": (
        'format = "alpaca"\n\n[card]\nlicense = "MIT"\n',
        {"format": "alpaca", "card": {"license": "MIT"}, "ranking": True},
        'format = "alpaca"\nranking = true\n\n[card]\nlicense = "MIT"\n',
    ),
    "CRLF": ('format = "alpaca"\r\n# c\r\n', {"format": "kto"}, 'format = "kto"\r\n# c\r\n'),
    "byte order mark": ('\ufeffformat = "alpaca" # c\n', {"format": "kto"}, '\ufeffformat = "kto" # c\n'),
    "true is not 1": ('format = "a"\nx = 1 # c\n', {"format": "a", "x": True}, 'format = "a"\nx = true # c\n'),
}


@pytest.mark.parametrize("before, values, after", EDITS.values(), ids=EDITS)
def test_a_persons_toml_is_edited_with_care(before: str, values: dict[str, object], after: str) -> None:
    assert edited(before.encode(), values, "x.toml").decode() == after


SCALARS = st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=6)
TABLES = st.dictionaries(
    st.text(min_size=1, max_size=6),
    SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=4), SCALARS, max_size=3),
    max_size=5,
)


@given(TABLES, TABLES)
def test_an_edit_says_what_was_meant_or_is_refused(before: dict[str, object], after: dict[str, object]) -> None:
    import tomllib

    import tomli_w

    text = f"# kept\n{tomli_w.dumps(before)}"
    try:
        found = edited(text.encode(), after, "x.toml").decode()
    except RegistryError:
        return
    assert tomllib.loads(found) == after
    assert "# kept" in found


def test_a_linked_toml_is_written_through_inside_and_refused_outside(tmp_path: Path) -> None:
    root, away = tmp_path / "p", tmp_path / "away"
    (root / "store").mkdir(parents=True)
    away.mkdir()
    project = project_of(root)
    for name, real in (("in", root / "store/in.toml"), ("out", away / "out.toml")):
        real.write_text(ALPACA)
        (root / f"registry/{name}.toml").symlink_to(real)
    edit(project, "in", Dataset(format="kto"))
    assert (root / "registry/in.toml").is_symlink() and "kto" in (root / "store/in.toml").read_text()
    with pytest.raises(OutputError, match="outside the project"):
        edit(project, "out", Dataset(format="kto"))
    assert (away / "out.toml").read_text() == ALPACA


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    os.mkfifo(tmp_path / "registry/pipe.toml")
    (tmp_path / "registry/folder.toml").mkdir()
    (tmp_path / "registry/lost.toml").symlink_to(tmp_path / "none")
    problems = load_all(project).problems
    assert {name: problem.message for name, problem in problems.items()} == {
        "pipe": "not a regular file",
        "folder": "not a regular file",
        "lost": "a link to a file that is not there",
    }


def test_inside(tmp_path: Path) -> None:
    assert inside(tmp_path, tmp_path / "a/b") == tmp_path / "a/b"
    for path in (tmp_path / "../x", tmp_path.parent, Path("/etc/passwd")):
        with pytest.raises(OutputError):
            inside(tmp_path, path)
