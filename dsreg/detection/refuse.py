"""Say why rows cannot be told, and what to do about it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from dsreg.detection.columns import find_columns
from dsreg.detection.look import Look, flag, quoted
from dsreg.detection.names import GROUPS
from dsreg.detection.reasons import unreadable
from dsreg.detection.turns import Turns, read_shape
from dsreg.errors import UsageError
from dsreg.formats import Format

CHAT_COLUMNS = (*GROUPS["messages"], "prompt", "completion", "chosen", "rejected")
SOURCES = frozenset({"file_name", "hf_hub_url", "ms_hub_url", "om_hub_url", "script_url", "cloud_file_name"})
KNOWN_NAMES = frozenset(name for names in GROUPS.values() for name in names)
RANKED = (*GROUPS["response"], *GROUPS["chosen"], *GROUPS["rejected"])


def refuse_no_rows(look: Look) -> None:
    """Raise UsageError where there is no row that has columns."""
    if not look.total:
        raise UsageError("there are no rows to tell a format from", hint="--format ID with --column name=column")
    if not look.rows:
        raise UsageError("no row is a JSON object: a row needs columns with names", hint='{"instruction": …}')
    if not look.kinds:
        raise UsageError("the rows have no columns: they are empty objects")


def refuse_columnar(look: Look) -> None:
    """Raise UsageError for a table written column by column: {"a": [1, 2], "b": [3, 4]}, or {"a": {"0": 1, …}, …}."""
    if len(look.rows) != 1 or len(look.kinds) < 2:
        return
    values = [value for value in look.rows[0][1].values() if value is not None]
    lists = [value for value in values if isinstance(value, (list, tuple))]
    objects = [value for value in values if isinstance(value, Mapping)]
    columnar = (
        len(lists) == len(values) >= 2
        and len({len(value) for value in lists}) == 1
        and len(lists[0]) > 1
        and not any(isinstance(value[0], Mapping) for value in lists)
    )
    indexed = len(objects) == len(values) >= 2 and all(
        value and all(isinstance(key, str) and key.isdigit() for key in value) for value in objects
    )
    if columnar or indexed:
        raise UsageError(
            "the data is one object with a list a column, not one object a row",
            hint=f"in pandas: pd.read_json({python(look.file)})"
            ".to_json('rows.jsonl', orient='records', lines=True, force_ascii=False)",
        )


def refuse_json_text(look: Look, columns: Sequence[str]) -> None:
    """Raise UsageError where a column that should hold turns holds their JSON text, as CSV files do."""
    for column in columns:
        texts = [value for _, value in islice(look.values(column), 5)]
        if texts and all(isinstance(text, str) and text.lstrip().startswith("[{") for text in texts):
            decoded = [decode(text) for text in texts]
            if all(isinstance(value, list) and read_shape([(1, value)]) for value in decoded):
                raise UsageError(
                    f"{quoted(column)} holds the JSON text of lists of turns, not the lists themselves",
                    hint=f"write them as JSON Lines with the lists in it, {decoding(look, column)}",
                )


def refuse_registry(look: Look) -> None:
    """Raise UsageError for a dataset_info.json, which lists datasets and is none."""
    entries = list(look.rows[0][1].values()) if len(look.rows) == 1 else []
    if entries and all(isinstance(entry, Mapping) and not SOURCES.isdisjoint(entry) for entry in entries):
        raise UsageError("this is a dataset_info.json, not data", hint="dsreg init adopts the datasets it lists")


def jq(look: Look, column: str, program: str) -> str:
    """A jq command with the column's name in its program, for a shell."""
    each = ".[] | " if look.container == "json" and len(look.rows) > 1 else ""
    return f"jq -c {shlex.quote(each + program.replace('NAME', json.dumps(column)))} {look.file} > rows.jsonl"


def python(file: str) -> str:
    """The name of a file that is quoted for a shell, as Python text."""
    return repr(file) if file == "FILE" else repr(shlex.split(file)[0])


def decoding(look: Look, column: str) -> str:
    """How to decode the JSON text in a column, with what reads the file."""
    if look.container in ("", "json", "jsonl"):
        return f"by {jq(look, column, '.[NAME] |= fromjson')}"
    return f"in pandas: rows[{column!r}] = rows[{column!r}].map(json.loads)"


def decode(text: str) -> Any:
    """JSON text decoded, a list of objects only; None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) and value and all(isinstance(item, dict) for item in value) else None


def refuse_ranked(look: Look, columns: Sequence[str]) -> None:
    """Raise UsageError for preference rows of the older kind, whose answers are one list, the best first."""
    for column in columns:
        if look.kind(column) == "list of texts":
            raise UsageError(
                f"{quoted(column)} holds lists of texts; LlamaFactory reads one text for an answer",
                hint='take the text out of its list: "chosen": "good", "rejected": "bad"'
                if column not in GROUPS["response"]
                else ranked_way(look, column),
            )


def ranked_way(look: Look, column: str) -> str:
    """What becomes of ranked answers: two are a pair, more are not."""
    sizes = {number: len(value) for number, value in look.values(column) if isinstance(value, list)}
    odd = [number for number, size in sizes.items() if size != 2]
    way = (
        f'if they are ranked answers, make them "chosen": "good", "rejected": "bad" instead of "{column}": '
        '["good", "bad"], and add --ranking'
    )
    if not odd:
        return way
    which = f"row {odd[0]:,} has {sizes[odd[0]]:,}" + (f", {len(odd):,} of {len(sizes):,} rows seen" if odd[1:] else "")
    return f"{way}; only two answers are a pair: choose the better and the worse of others ({which})"


def refuse_rivals(format: Format, found: Mapping[str, Sequence[str]], look: Look) -> None:
    """Raise UsageError where two columns could be the same thing and only the user knows which one is."""
    for own, columns in found.items():
        raise UsageError(
            f"{own} of {format.id} could be {' or '.join(map(quoted, columns))}; the columns are: {look.describe()}",
            hint=" or ".join(flag("column", own, column) for column in columns),
        )


def refuse_roles(shape: Turns, tags: Mapping[str, str], column: str) -> None:
    """Raise UsageError where the names of the roles do not say who asks and who answers."""
    missing = [tag for tag in ("user_tag", "assistant_tag") if tag not in tags]
    odd = shape.odd_roles(tags)
    many = [role for role in odd if role and shape.roles[role] * 4 >= shape.count]
    if not missing or not many:
        return
    roles = ", ".join(f"{quoted(role)} ×{n}" for role, n in shape.roles.most_common(8))
    lacking = " and ".join("the user" if tag == "user_tag" else "the assistant" for tag in missing)
    names = [*many, *(["ROLE"] * len(missing))]
    raise UsageError(
        f"which role in {quoted(column)} is {lacking}? Under {quoted(shape.role_key)} stand {roles}",
        hint=" ".join(flag("tag", tag, name) for tag, name in zip(missing, names, strict=False)),
    )


def undecided(look: Look, formats: Mapping[str, Format], given: Mapping[str, str]) -> UsageError:
    """The error for rows of which no format can be told, with the formats that come near and what they lack."""
    for reason in (wrapped(look), nested(look)):
        if reason:
            return reason
    kinds = {tuple(sorted(str(key) for key in row)) for _, row in look.rows}
    mixed = f" ({len(kinds)} different sets of columns in {len(look.rows)} rows)" if len(kinds) > 1 else ""
    near = nearly(look, formats, given)
    choices = f"Near are: {'; '.join(near)}" if near else "No format has a column of these names"
    hint = "say --format ID, and --column name=column for what has another name; dsreg formats list"
    column = next(iter(look.kinds))
    if len(look.kinds) == 1 and look.kind(column) == "text" and column not in GROUPS["prompt"]:
        hint = f"for pretraining: --format pretrain {flag('column', 'text', column)}"
    return UsageError(
        f"the format of these rows cannot be told; the columns are: {look.describe()}{mixed}. {choices}", hint=hint
    )


def lacking(format: Format, look: Look, given: Mapping[str, str]) -> UsageError:
    """The error for a format that was asked for and whose columns are not all there."""
    for reason in (wrapped(look), nested(look)):
        if reason:
            return reason
    found = find_columns(format, look, given)
    short = min(format.manifest.needs.values(), key=lambda needed: len(set(needed) - found.keys()), default=[])
    missing = [own for own in short if own not in found]
    needs = "; ".join(f"{task}: {', '.join(needed)}" for task, needed in format.manifest.needs.items())
    return UsageError(
        f"{format.id} needs {needs}; nothing stands for {' and '.join(map(quoted, missing)) or 'them'}. "
        f"The columns are: {look.describe()}",
        hint=" ".join(f"--column {own}=COLUMN" for own in missing) or "dsreg formats show " + format.id,
    )


def nearly(look: Look, formats: Mapping[str, Format], given: Mapping[str, str]) -> list[str]:
    """The formats that some of the columns would fit, each with what it lacks, the nearest first."""
    found = []
    for format in formats.values():
        columns = find_columns(format, look, given)
        if not format.reads or not columns:
            continue
        for task, needed in format.manifest.needs.items():
            missing = [own for own in needed if own not in columns]
            taken = " ".join(f"{own}={columns[own]}" for own in needed if own in columns)
            if taken and missing:
                found.append((len(missing), f"{format.id} ({task}) with {taken}, which lacks {', '.join(missing)}"))
            elif taken and any_readable(format, columns, look):
                found.append((0, f"{format.id} ({task}) with {taken}"))
    return [text for _, text in sorted(found, key=lambda pair: pair[0])[:6]]


def any_readable(format: Format, columns: Mapping[str, str], look: Look) -> bool:
    """Whether the format reads any of the rows by these columns."""
    numbers, _ = unreadable(format, columns, {}, False, look)
    return len(numbers) < len(look.rows)


def wrapped(look: Look) -> UsageError | None:
    """The error for rows that stand inside a column of a single outer object, if they do."""
    if len(look.rows) != 1:
        return None
    inner = list(look.rows[0][1].values())
    if len(inner) > 1 and all(isinstance(value, Mapping) for value in inner) and set.intersection(*map(set, inner)):
        return UsageError(
            "the data is one object of objects, which seem to be its rows", hint=f"take them out: {jq(look, '', '.[]')}"
        )
    for column in look.kinds:
        if look.kind(column) == "list of objects":
            return UsageError(
                f"the data is one object, and its rows seem to stand in the list {quoted(column)}; "
                f"the columns are: {look.describe()}",
                hint=f"take them out: {jq(look, column, '.[NAME][]')}",
            )
    return None


def nested(look: Look) -> UsageError | None:
    """The error for rows whose columns stand inside one object, if they do."""
    for column in look.kinds:
        if look.kind(column) != "object":
            continue
        keys = {key for _, value in islice(look.values(column), 20) if isinstance(value, Mapping) for key in value}
        if len(keys & KNOWN_NAMES) >= 2:
            return UsageError(
                f"the columns seem to stand inside the object {quoted(column)}; the columns are: {look.describe()}",
                hint=f"take them out: {jq(look, column, '. + .[NAME]')}",
            )
    return None
