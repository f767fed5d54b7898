"""Casting between the types of chunks and files, as `datasets` 4.0 does it (datasets/table.py).

Stricter and laxer than Arrow's own cast: a struct may lack fields but not bring new ones, anything but null refuses
to become null, numbers may become text.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

Array = Any  # pyarrow has no types


class NewColumns(ValueError):
    """A table has columns that the first one did not have."""


def cast_table(table: Any, schema: Any) -> Any:
    """`table` with exactly the columns and types of `schema`; columns it lacks are null.

    Raises NewColumns for columns that `schema` lacks, TypeError or pyarrow.ArrowInvalid for values that do not fit.
    """
    if table.schema.equals(schema):
        return table
    new = [name for name in table.column_names if name not in schema.names]
    if new:
        raise NewColumns(f"All the data files must have the same columns, but there are new columns: {new}")
    arrays = [
        cast_chunked(table[field.name], field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def cast_chunked(array: Any, target: Any) -> Any:
    """`cast_array` for an array in chunks."""
    return pa.chunked_array([cast_array(chunk, target) for chunk in array.chunks], type=target)


def cast_array(array: Array, target: Any) -> Array:
    """`array` as `target`; structs may lack fields, at any depth outside lists of equal type."""
    kind = array.type
    if kind.equals(target):
        return array
    if pa.types.is_struct(kind) and pa.types.is_struct(target):
        return _cast_struct(array, target)
    if _is_list(kind) and _is_list(target):
        return _cast_list(array, target)
    if pa.types.is_null(kind):
        return array.cast(target) if not pa.types.is_nested(target) else pa.nulls(len(array), target)
    if pa.types.is_nested(kind) or pa.types.is_nested(target) or pa.types.is_null(target):
        raise TypeError(f"Couldn't cast array of type {kind} to {target}")
    return array.cast(target)


def _cast_struct(array: Array, target: Any) -> Array:
    names = {field.name for field in array.type}
    if not names <= {field.name for field in target}:
        raise TypeError(f"Couldn't cast array of type {array.type} to {target}")
    if target.num_fields == 0:
        return array
    arrays = [
        cast_array(array.field(field.name) if field.name in names else pa.nulls(len(array)), field.type)
        for field in target
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(target), mask=array.is_null())


def _cast_list(array: Array, target: Any) -> Array:
    values = cast_array(array.values, target.value_type)
    offsets = _offsets(array)
    make = pa.LargeListArray if pa.types.is_large_list(target) else pa.ListArray
    return make.from_arrays(offsets, values, type=target)


def _offsets(array: Array) -> Array:
    """The offsets with nulls where the list is null: the only way to keep them through `from_arrays`."""
    offsets = array.offsets
    if array.null_count == 0:
        return offsets
    import pyarrow.compute as pc  # takes as long to import as pyarrow

    nulls = pa.concat_arrays([array.is_null(), pa.array([False])])
    return pc.if_else(nulls, pa.scalar(None, offsets.type), offsets)


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))
