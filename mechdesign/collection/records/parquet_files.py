"""Parquet files, read in batches whose expanded size is bounded in advance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from mechdesign.collection.records.parquet_pages import Page, page_sizes
from mechdesign.collection.records.sources import PIECE, Reader, is_text
from mechdesign.resources import check_size

EXPANDED = 2**26
"""Maximum expanded size in bytes of a batch, apart from pages and one row."""

USUAL_PAGE = 2**21
"""Page size in bytes that writers do not exceed by default."""

LARGEST = 32
"""Maximum number of bytes of a number, that of a decimal."""

LEVELS = 2
"""Bytes counted for each value of a list."""


class ParquetReader(Reader):
    """Rows of a Parquet file.

    A page of a few bytes may encode many long cells. So the headers of all pages are read first:
    pages that are too large uncompressed are rejected, and the batch size is chosen such that the
    cells fit in memory even if each is the longest of its page. Dictionary-encoded text stays
    encoded. So the memory does not depend on the length of the file or on unused columns.
    """

    kind = "a Parquet file"

    def _opened(self) -> pa.Schema:
        self._read = 0
        self._check_footer()
        self._metadata = pa.parquet.read_metadata(self._raw)
        return self._metadata.schema.to_arrow_schema().with_metadata(self._metadata.metadata)

    def _check_footer(self) -> None:
        """Raise InputError unless the file ends in a short Parquet footer.

        The last eight bytes are the length of the footer and the letters PAR1.
        """
        self._raw.seek(max(0, self._size - 8))
        end = self._raw.read(8)
        if len(end) < 8 or end[4:] != b"PAR1":
            raise self._damaged("", "another kind of file, or one that is cut short")
        check_size("footer_bytes", int.from_bytes(end[:4], "little"), self.file)

    def _tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns, in tables of bounded expanded size."""
        row_bytes, once = self._sizes(names)
        buffer = max(2**12, min(2**16, PIECE // len(names)))
        most = max(1, min(size, int(EXPANDED // max(row_bytes, 1))))
        file = pa.parquet.ParquetFile(
            self._raw, read_dictionary=once, buffer_size=buffer, pre_buffer=False
        )
        # a thread that still holds the Python file when the interpreter exits would abort it
        for batch in file.iter_batches(batch_size=most, columns=list(names), use_threads=False):
            for table in self._pieces(batch, names):
                self._read += table.num_rows
                yield table

    def _next(self) -> str:
        return f"row {self._read + 1}"

    def _sizes(self, names: Sequence[str]) -> tuple[float, list[str]]:
        """Return a bound on the bytes of a row, and the dictionary-encoded text columns.

        The cells of a plain page share its bytes, but each cell may be as long as its page if cells
        share prefixes, are dictionary-encoded, or are nested. The values of a list may take no
        bytes of the page and belong to one row, so they are counted, too.

        As in pyarrow, the name of a column selects all paths that begin with it: a dot in a name
        looks like one of a nested column.
        """
        schema = self._metadata.schema
        longest, once = dict[str, float](), set[str]()
        held = dict[tuple[str, str], int]()
        leaves = [(n, schema.column(n)) for n in range(len(schema))]
        starts = tuple(f"{name}." for name in names)
        wanted = [
            (n, leaf) for n, leaf in leaves if leaf.path in names or leaf.path.startswith(starts)
        ]
        kinds = {name: self.schema.field(name).type for name in names}
        before = 0
        for group in map(self._metadata.row_group, range(self._metadata.num_row_groups)):
            for n, leaf in wanted:
                column, path = group.column(n), leaf.path
                text, in_list = leaf.physical_type == "BYTE_ARRAY", leaf.max_repetition_level > 0
                delta = "DELTA_BYTE_ARRAY" in column.encodings
                if delta and path in kinds and pa.types.is_dictionary(kinds[path]):
                    raise pa.ArrowNotImplementedError
                plain = text and not in_list and not delta
                values = 0
                for page in self._pages(column, before):
                    sort = "dictionary" if page.is_dictionary else "data"
                    held[path, sort] = max(held.get((path, sort), 0), page.size)
                    values += 0 if page.is_dictionary else page.values
                    if page.is_dictionary and path in kinds and is_text(kinds[path]):
                        once.add(path)
                    elif in_list or text or (leaf.length or 0) > LARGEST:
                        rows = max(page.values, 1) if plain and not page.is_dictionary else 1
                        least = 8 * page.values if in_list else 0
                        cost = max(page.size / rows, least)
                        longest[path] = max(longest.get(path, 0), cost)
                if in_list:
                    spread = LEVELS * (values - group.num_rows)
                    held[path, "levels"] = max(held.get((path, "levels"), 0), spread)
            before += group.num_rows
        beyond = sum(max(0, size - USUAL_PAGE) for size in held.values())
        check_size("page_bytes", beyond, self.file)
        return 16 * len(wanted) + sum(longest.values()), sorted(once)

    def _pages(self, column: Any, before: int) -> Iterator[Page]:
        """Yield the pages of a column of a row group, which begins after some rows of the file."""
        try:
            yield from page_sizes(self._raw, column)
        except (ValueError, IndexError, RecursionError):
            raise self._damaged(f"row {before + 1}") from None

    def share(self) -> float:
        """Return the share of the rows read so far."""
        return self._read / (self._metadata.num_rows or 1)
