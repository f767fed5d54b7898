"""Data files row by row, with their place; and files of rows, written whole or not at all."""

from dsreg.rows.arrays import array_blocks
from dsreg.rows.bad import BadRow
from dsreg.rows.folder import data_files
from dsreg.rows.lines import jsonl_blocks
from dsreg.rows.sniff import CONTAINERS, sniff
from dsreg.rows.source import BLOCK, MAX_ROW
from dsreg.rows.spool import spool
from dsreg.rows.stream import RowStream, open_rows
from dsreg.rows.writer import RowWriter, open_writer

__all__ = [
    "BLOCK",
    "CONTAINERS",
    "MAX_ROW",
    "BadRow",
    "RowStream",
    "RowWriter",
    "array_blocks",
    "data_files",
    "jsonl_blocks",
    "open_rows",
    "open_writer",
    "sniff",
    "spool",
]
