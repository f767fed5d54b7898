"""The format folders: load them, name them, and answer what can become what."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from dsreg.errors import NotFoundError, RegistryError, UsageError
from dsreg.tasks import STEPS, Step

if TYPE_CHECKING:
    from dsreg.manifest import Manifest

Row = dict[str, Any]


def templates_dir() -> Path:
    """The folder of templates: inside the installed package, or beside it in a checkout."""
    packed = Path(__file__).parent / "templates"
    return packed if packed.is_dir() else Path(__file__).parent.parent / "templates"


class OwnCode:
    """Who is told, by the folder, before code of a project's own format runs: nobody, or the command line."""

    runs: Callable[[Path], object] = staticmethod(lambda folder: None)


class Format:
    """One format folder: its manifest, its reader and its writer, each of which is loaded when it is first used."""

    def __init__(self, folder: Path, *, own: bool) -> None:
        self.id = folder.name
        self.folder = folder
        self.own = own
        self._parts: dict[str, ModuleType | None] = {}
        self.reads = (folder / "reader.py").is_file()
        self.writes = (folder / "writer.py").is_file()

    @functools.cached_property
    def manifest(self) -> Manifest:
        """What format.toml says; raises RegistryError for one that is not right."""
        return read_manifest(self.folder)

    @functools.cached_property
    def reader(self) -> ModuleType:
        """The module of reader.py; raises UsageError for a format that is only a target."""
        return self._load("reader", self.reads, "is only a target; it cannot be read")

    @functools.cached_property
    def writer(self) -> ModuleType:
        """The module of writer.py; raises UsageError for a format that is only a source."""
        return self._load("writer", self.writes, "is only a source; it cannot be written")

    def part(self, name: str) -> ModuleType | None:
        """The module of a further file of the folder, such as advise.py, if there is one."""
        if name not in self._parts:
            there = (self.folder / f"{name}.py").is_file()
            self._parts[name] = self._load(name, True, "") if there else None
        return self._parts[name]

    def _load(self, name: str, there: bool, reason: str) -> ModuleType:
        if not there:
            raise UsageError(f"{self.id} {reason}", hint="dsreg formats list")
        if self.own:
            OwnCode.runs(self.folder)
        path = self.folder / f"{name}.py"
        module_name = f"dsreg_formats_{self.id.replace('-', '_')}_{name}"
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise NotFoundError(f"cannot load {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        spec.loader.exec_module(module)
        return module

    def examples(self) -> list[Row]:
        """The rows of example.jsonl."""
        import json

        text = (self.folder / "example.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines() if line]

    def task_of(self, columns: Iterable[str], *, ranking: bool | None = None) -> str:
        """What rows with these columns are for: the first task of the manifest's `needs` that they satisfy.

        `ranking` False rules out preference, as LlamaFactory's flag does. Raises UsageError when nothing fits.
        """
        mapped = set(columns)
        for task, needed in self.manifest.needs.items():
            if mapped.issuperset(needed) and not (
                task == "preference" and ranking is False and "sft" in self.manifest.needs
            ):
                return task
        needs = "; ".join(f"{task}: {', '.join(needed)}" for task, needed in self.manifest.needs.items())
        raise UsageError(f"the columns of this data make no {self.id} rows; needed are {needs}")


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a format folder; raises RegistryError for one that is not right."""
    from dsreg.files import read_regular
    from dsreg.project import TOML_LIMIT

    path = folder / "format.toml"
    return _manifest(read_regular(path, limit=TOML_LIMIT) or b"", str(path))


@functools.lru_cache(maxsize=256)
def _manifest(data: bytes, where: str) -> Manifest:
    """What the bytes of a format.toml say: kept, since those of a project are asked for with every dataset."""
    from dsreg.manifest import Manifest
    from dsreg.model import validate
    from dsreg.project import parse_toml

    try:
        values, text = parse_toml(data, where)
        return validate(Manifest, values, where=where, text=text)
    except RecursionError:
        raise RegistryError("nested too deeply", where=where) from None


@functools.cache
def built_in() -> dict[str, Format]:
    """The formats that come with dsreg, by id."""
    folders = sorted((templates_dir() / "formats").iterdir())
    return {folder.name: Format(folder, own=False) for folder in folders if (folder / "format.toml").is_file()}


def all_formats(root: Path | None = None) -> dict[str, Format]:
    """The built-in formats and those of the project at `root`, which cannot take a built-in name."""
    formats = dict(built_in())
    own = root / "templates" / "formats" if root else None
    if own is None or not own.is_dir() or own.resolve() == (templates_dir() / "formats").resolve():
        return formats
    for folder in sorted(own.iterdir()):
        if not (folder / "format.toml").is_file():
            continue
        if folder.name in formats:
            if same_files(folder, formats[folder.name].folder):
                continue  # a checkout of dsreg itself, used as a project
            raise RegistryError(f"the format {folder.name} is built in and cannot be replaced", where=str(folder))
        formats[folder.name] = format = Format(folder, own=True)
        _ = format.manifest  # a broken one is told whatever is asked for
    return formats


def same_files(left: Path, right: Path) -> bool:
    """Whether two format folders hold the same code and manifest."""
    names = {path.name for folder in (left, right) for path in folder.iterdir() if path.suffix in (".py", ".toml")}
    pairs = [(left / name, right / name) for name in names]
    return all(a.is_file() and b.is_file() and a.read_bytes() == b.read_bytes() for a, b in pairs)


def find_format(id: str, root: Path | None = None) -> Format:
    """The format of that id; raises NotFoundError with the nearest names."""
    formats = all_formats(root)
    if id in formats:
        return formats[id]
    from dsreg.model import closest

    near = closest(id, formats)
    hint = f"did you mean `{near}`?" if near else "dsreg formats list"
    raise NotFoundError(f"there is no format `{id}`; known are {', '.join(formats)}", hint=hint)


class Way(NamedTuple):
    """How rows of one task reach a target: the target's task, and the steps between; no step means none is needed."""

    task: str
    steps: list[Step]


def ways(task: str, target: Format) -> list[Way]:
    """All ways for rows of a task to become the target's, the ones without a choice first."""
    tasks = target.manifest.tasks
    if task in tasks:
        return [Way(task, [])]
    found = [Way(to, STEPS[task, to]) for to in tasks if (task, to) in STEPS]
    return sorted(found, key=lambda way: way.steps[0].take != "")


def choose_way(task: str, target: Format, take: str | None, root: Path | None = None) -> tuple[str, Step | None]:
    """The target's task and the step to it, under the user's `--take`; raises UsageError naming what would do.

    `root` is the project, whose own formats are named as well.
    """
    found = ways(task, target)
    for way in found:
        if not way.steps:
            return way.task, None
        for step in way.steps:
            if step.take == (take or ""):
                return way.task, step
    choices = [step.take for way in found for step in way.steps if step.take]
    if choices:
        said = f"--take {take} does not apply" if take else "a choice is needed"
        raise UsageError(
            f"{task} rows can become {target.id} only by choosing an answer; {said}",
            hint=" or ".join(f"--take {choice}" for choice in dict.fromkeys(choices)),
        )
    fit = ", ".join(f.id for f in all_formats(root).values() if f.writes and reached(task, f))
    raise UsageError(f"{task} rows cannot become {target.id}", hint=f"targets that fit: {fit}")


def reached(task: str, target: Format) -> bool:
    """Whether rows of a task become a target without a choice."""
    return any(not way.steps or any(not step.take for step in way.steps) for way in ways(task, target))


def options_of(format: Format, side: str, given: dict[str, Any]) -> dict[str, Any]:
    """The settings of one side of a format, complete with defaults; `given` may hold other formats' as well.

    Raises UsageError for a value that is not among the choices or of the wrong type.
    """
    options = {}
    for name, option in format.manifest.options.items():
        if option.side != side:
            continue
        value = given.get(name, option.default)
        if isinstance(option.default, bool) and isinstance(value, str):
            value = {"true": True, "false": False}.get(value.lower(), value)
        elif isinstance(option.default, int) and isinstance(value, str) and value.lstrip("-").isdigit():
            value = int(value)
        if (option.choices and value not in option.choices) or type(value) is not type(option.default):
            wanted = " | ".join(option.choices) or type(option.default).__name__
            raise UsageError(f"option {name}={value} of {format.id}: expected {wanted}")
        options[name] = value
    return options
