"""Collect the source that a standalone script needs: the definitions reached from a few names, and their imports."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from dsreg.errors import UsageError

PACKAGE = Path(__file__).parent.parent
PASTED = ("dsreg.rowcode.",)
"""What a format's files may import from dsreg: the code that is made to be pasted."""


class Import(NamedTuple):
    """Where a name comes from: `import module`, or `from module import name`; `alias` is what it is called here."""

    module: str
    name: str
    alias: str
    line: int

    @property
    def is_standard(self) -> bool:
        """Whether it is part of the standard library."""
        return self.module.partition(".")[0] in sys.stdlib_module_names


class Definition(NamedTuple):
    """A top-level function, class or constant: its lines with the comment above it, and the names it uses.

    `reads` are the attributes it reads, `inside` imports within its body that are not of the standard library.
    """

    name: str
    line: int
    source: str
    is_constant: bool
    uses: tuple[str, ...]
    reads: tuple[str, ...]
    inside: tuple[Import, ...]


@dataclass(frozen=True)
class Module:
    """One source file: what it is about, its definitions and its imports by name."""

    path: Path
    title: str
    definitions: dict[str, Definition]
    imports: dict[str, Import]


@dataclass
class Section:
    """What was reached in one module, in the order of the file."""

    key: str
    module: Module
    reached: dict[str, Definition] = field(default_factory=dict)
    needs: list[str] = field(default_factory=list)
    same: set[str] = field(default_factory=set)

    def source(self) -> str:
        """The definitions as they follow each other in the file: constants line by line, the rest with space around."""
        text = ""
        before: Definition | None = None
        for definition in sorted(set(self.reached.values()), key=lambda definition: definition.line):
            if before is not None:
                text += "\n" if before.is_constant and definition.is_constant else "\n\n\n"
            text, before = text + definition.source, definition
        return text


class Bundle:
    """The definitions that were reached, module by module, with the standard-library imports they share.

    `may_import` are the prefixes of dsreg's own modules that can be pasted.
    """

    def __init__(self, may_import: tuple[str, ...] = PASTED) -> None:
        self.may_import = may_import
        self.sections: dict[str, Section] = {}
        self._imports: set[Import] = set()
        self._roots: list[str] = []
        self._owner: dict[str, tuple[str, str]] = {}

    def add(self, source: Path | str, *names: str) -> None:
        """Reach these names in a file, or in a module of dsreg by its dotted name.

        Raises UsageError for a name that is not there, and for code that cannot be pasted.
        """
        key = str(source)
        if isinstance(source, str):
            self._check_allowed(Import(source, "", "", 1), source, self.may_import)
        self._roots.append(key)
        for name in names:
            self._reach(key, name)

    def import_name(self, module: str, name: str = "") -> None:
        """Ask for a standard-library import that code outside the bundle needs."""
        self._hoist(Import(module, name, name or module.partition(".")[0], 0), "the template")

    def reserve(self, *names: str) -> None:
        """Keep names that stand beside the bundle; raises UsageError if a definition or an import has one of them."""
        for name in names:
            self._own(name, "the template", "")

    def ordered(self) -> list[Section]:
        """The sections, each behind those it needs."""
        found: dict[str, Section] = {}

        def visit(key: str) -> None:
            if key in found or key in visiting:
                return
            visiting.add(key)
            for needed in self.sections[key].needs:
                visit(needed)
            found[key] = self.sections[key]

        visiting: set[str] = set()
        for root in self._roots:
            visit(root)
        return [section for section in found.values() if section.reached]

    def attributes(self, source: Path | str, *names: str, apart_from: tuple[str, str]) -> set[str]:
        """The attributes, such as `options` in `c.options`, that these names and all that they reach read.

        `apart_from` is a definition (its module, its name) that is not looked into.
        """
        todo = [(str(source), name) for name in names]
        seen = {apart_from}
        found: set[str] = set()
        while todo:
            key, name = todo.pop()
            module = self._section(key).module
            if (key, name) in seen:
                continue
            seen.add((key, name))
            if name in module.definitions:
                found.update(module.definitions[name].reads)
                todo += [(key, used) for used in module.definitions[name].uses]
            elif name in module.imports and not module.imports[name].is_standard:
                todo.append((module.imports[name].module, name))
        return found

    def import_lines(self) -> list[str]:
        """The imports, once each, `import` before `from`, in the usual order."""
        plain = sorted({_plain(i) for i in self._imports if not i.name})
        modules = sorted({i.module for i in self._imports if i.name})
        lines = []
        for module in modules:
            names = sorted({_from(i) for i in self._imports if i.name and i.module == module}, key=_import_order)
            lines.append(f"from {module} import {', '.join(names)}")
        return plain + lines

    def _reach(self, key: str, name: str) -> None:
        section = self._section(key)
        module = section.module
        definition = module.definitions.get(name)
        if definition is None:
            raise UsageError(f"{module.path.name} does not define `{name}`", where=str(module.path))
        if name in section.reached:
            return
        if name in section.same:
            return
        new = [self._own(bound, str(module.path), definition.source) for bound in definition.name.split(", ")]
        if all(new):
            section.reached[name] = definition
        else:
            section.same.add(name)  # another module has it in the same words
        for hidden in definition.inside:
            self._check_allowed(hidden, str(module.path), ())
        for used in definition.uses:
            if used in module.definitions:
                self._reach(key, used)
            elif used in module.imports:
                self._follow(key, section, module.imports[used])

    def _follow(self, key: str, section: Section, found: Import) -> None:
        path = str(section.module.path)
        if found.is_standard:
            self._hoist(found, path)
            return
        # a format's own files keep to the row code; dsreg's modules may share what the bundle allows
        self._check_allowed(found, path, PASTED if path == key else self.may_import)
        if not found.name or found.name != found.alias:
            raise UsageError(
                f"`{found.alias}` of {found.module} cannot be pasted",
                where=f"{path}:{found.line}",
                hint="write it as: from module import name",
            )
        if found.module not in section.needs:
            section.needs.append(found.module)
        self._reach(found.module, found.name)

    def _section(self, key: str) -> Section:
        if key not in self.sections:
            path = Path(key) if key.endswith(".py") else PACKAGE.parent.joinpath(*key.split(".")).with_suffix(".py")
            self.sections[key] = Section(key, read_module(path))
        return self.sections[key]

    def _hoist(self, found: Import, path: str) -> None:
        whole = not found.name and found.module.partition(".")[0] == found.alias  # `import os` and `import os.path`
        self._own(found.alias, "an import", found.alias if whole else f"{found.module}.{found.name}", path)
        self._imports.add(found._replace(line=0))

    def _own(self, name: str, owner: str, source: str, path: str = "") -> bool:
        """Whether the name is new; raises UsageError if it already stands for something else."""
        other = self._owner.setdefault(name, (owner, source))
        if other == (owner, source):
            return True
        if other[1] and other[1] == source:
            return False
        raise UsageError(
            f"`{name}` would stand for two things in one script: also in {other[0]}",
            where=path or owner,
            hint="helpers of a format begin with its name",
        )

    def _check_allowed(self, found: Import, path: str, allowed: tuple[str, ...]) -> None:
        if not found.module.startswith(allowed):
            raise UsageError(
                f"a script of its own cannot import {found.module}",
                where=f"{path}:{found.line}",
                hint="readers and writers import from the standard library and dsreg.rowcode only",
            )


def _plain(found: Import) -> str:
    usual = found.module.partition(".")[0] == found.alias
    return f"import {found.module}" + ("" if usual else f" as {found.alias}")


def _import_order(name: str) -> tuple[bool, bool, str]:
    """CONSTANTS, then Classes, then functions, as import sorters want them."""
    return not (name.isupper() and len(name) > 1), not name[0].isupper(), name


def _from(found: Import) -> str:
    return found.name if found.name == found.alias else f"{found.name} as {found.alias}"


def read_module(path: Path) -> Module:
    """Read one source file; raises UsageError for what is no Python, and for statements that are no definitions."""
    try:
        return parse_module(path, path.read_text("utf-8"))
    except SyntaxError as error:
        raise UsageError(f"not Python: {error.msg}", where=f"{path}:{error.lineno}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the source: {error}", where=str(path)) from None


@functools.lru_cache(maxsize=256)
def parse_module(path: Path, text: str) -> Module:
    """Take the source of a module apart; many scripts share the same few."""
    tree = ast.parse(text)
    module = Module(path, (ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " "), {}, {})
    lines = text.split("\n")
    body = tree.body
    for i, node in enumerate(body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module.imports.update({found.alias: found for found in _imports(node)})
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # the docstring of the module, or of the constant before it
        else:
            names = _names(node)
            if not names:
                raise UsageError("only definitions can be pasted, not statements", where=f"{path}:{node.lineno}")
            end = _end(node, body[i + 1] if i + 1 < len(body) else None)
            definition = _definition(node, names, lines, end)
            module.definitions.update(dict.fromkeys(names, definition))
    return module


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, "", alias.asname or alias.name.partition(".")[0], node.lineno)
    elif node.module != "__future__":
        for alias in node.names:
            yield Import("." * node.level + (node.module or ""), alias.name, alias.asname or alias.name, node.lineno)


def _names(node: ast.stmt) -> list[str]:
    """The names that a top-level statement defines; none if it is no definition."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    found = [name for target in targets for name in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [name.id for name in found if isinstance(name, ast.Name)]


def _end(node: ast.stmt, following: ast.stmt | None) -> int:
    """The last line of a definition; the text below a constant that says what it is belongs to it."""
    end = node.end_lineno or node.lineno
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
        return following.end_lineno or end
    return end


def _definition(node: ast.stmt, names: list[str], lines: list[str], end: int) -> Definition:
    start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    while start > 1 and lines[start - 2].startswith("#"):
        start -= 1
    inner = list(ast.walk(node))
    uses = dict.fromkeys(name.id for name in inner if isinstance(name, ast.Name))
    reads = {a.attr for a in inner if isinstance(a, ast.Attribute) and isinstance(a.ctx, ast.Load)}
    inside = [i for found in inner if isinstance(found, ast.Import | ast.ImportFrom) for i in _imports(found)]
    return Definition(
        name=", ".join(names),
        line=start,
        source="\n".join(lines[start - 1 : end]),
        is_constant=isinstance(node, ast.Assign | ast.AnnAssign),
        uses=tuple(uses),
        reads=tuple(reads),
        inside=tuple(found for found in inside if not found.is_standard),
    )
