"""Contents of files: decompression within limits, decoding, and one-line errors.

A small compressed file may expand to more than the available memory. Gzip files and workbooks (which are ZIP
archives) may therefore expand to at most MAX_EXPANSION times their size, or to FREE_EXPANSION bytes if this is more,
and never to more than the free memory.
"""

import gzip
import io
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import NoReturn

MAX_EXPANSION = 200
"""Maximum ratio of decompressed to compressed size. Tables reach about 10, malicious files about 1000."""
FREE_EXPANSION = 10_000_000
BYTES_PER_BYTE = 12
"""Memory in bytes per byte of text during its conversion to columns."""
CHUNK_BYTES = 1 << 20
GZIP = b"\x1f\x8b"
NUL_MESSAGE = (
    "this is not a text file, as it contains a zero byte: pass CSV, or a file named .parquet, .feather or .xlsx"
)
STANDARD_INPUT = FilePath("-")


class FileError(ValueError):
    """A file cannot be read as a table. The message is a single line with the remedy."""


def raise_file_error(file: FilePath, why: str) -> NoReturn:
    """Raise a FileError that names the file."""
    msg = f"{file}: {' '.join(why.split())}."
    raise FileError(msg)


@contextmanager
def arrow_errors(files: Sequence[FilePath]) -> Iterator[None]:
    """Convert errors of pyarrow and of the operating system to a FileError."""
    import pyarrow as pa

    try:
        yield
    except FileError:
        raise
    except (pa.ArrowException, OSError) as error:
        deleted = [file for file in files if not file.exists()]
        if deleted:
            raise_file_error(deleted[0], "the file was deleted while being read")
        first = str(error).splitlines()[0].rstrip(".")
        file = files[0] if len(files) == 1 else FilePath(f"one of {len(files)} files")
        raise_file_error(file, f"cannot be read ({first})")


def check_file(file: FilePath) -> None:
    """Raise FileError if a file does not exist, is a folder or is empty. Pipes are not checked."""
    if file == STANDARD_INPUT:
        return
    if not file.exists():
        raise_file_error(file, "there is no such file")
    if file.is_dir():
        raise_file_error(file, "this is a folder: pass a file")
    state = file.stat()
    if stat.S_ISREG(state.st_mode) and state.st_size == 0:
        raise_file_error(file, "the file is empty")


def read_bytes(file: FilePath) -> bytes:
    """Return the content of a file or of the standard input, decompressed if it is a gzip file."""
    if file == STANDARD_INPUT:
        raw = sys.stdin.buffer.read()
    else:
        check_memory(file, file.stat().st_size * BYTES_PER_BYTE)
        raw = file.read_bytes()
    return _decompress(file, raw) if raw[:2] == GZIP else raw


def to_utf8(file: FilePath, raw: bytes, encoding: str) -> bytes:
    """Convert text to UTF-8 without a byte order mark."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") and encoding.lower() == "utf-8":
        raise_file_error(file, "this is UTF-16: save the file as UTF-8, or pass --encoding utf-16")
    if b"\0" in raw[:4096] and not encoding.lower().startswith(("utf-16", "utf-32")):
        raise_file_error(file, NUL_MESSAGE)
    try:
        text = raw.decode("utf-8-sig" if encoding.lower() == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        what = f"byte 0x{raw[error.start]:02x} in line {line} is not {encoding}"
        raise_file_error(file, f"{what}: save the file as UTF-8, or pass its encoding, such as --encoding latin-1")
    except LookupError:
        raise_file_error(file, f"unknown encoding {encoding!r}")
    if "\0" in text:
        raise_file_error(file, NUL_MESSAGE)
    return text.encode()


def check_archive(file: FilePath, raw: bytes) -> None:
    """Raise FileError if the declared content of a ZIP archive is too large. Readers stop at the declared size."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        total = sum(entry.file_size for entry in archive.infolist())
    _check_expansion(file, total, len(raw))
    check_memory(file, total)


def check_memory(file: FilePath, required: int) -> None:
    """Raise FileError if reading a file requires more than the free memory."""
    free = free_memory()
    if free is not None and required > free:
        what = f"reading it requires about {required / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free"
        raise_file_error(file, f"{what}: use a sample of the rows, fewer columns, or a Parquet file")


def free_memory() -> int | None:
    """Return the available memory in bytes, or None if the operating system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            lines = dict(line.split(":", 1) for line in stream)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _decompress(file: FilePath, raw: bytes) -> bytes:
    chunks, total = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                chunks.append(chunk)
                total += len(chunk)
                _check_expansion(file, total, len(raw))
                # The decompressed bytes themselves are already part of the used memory.
                check_memory(file, total * (BYTES_PER_BYTE - 1))
    except (OSError, EOFError, zlib.error) as error:
        raise_file_error(file, f"the gzip file is damaged ({error})")
    return b"".join(chunks)


def _check_expansion(file: FilePath, expanded: int, size: int) -> None:
    if expanded > max(MAX_EXPANSION * size, FREE_EXPANSION):
        what = f"its {size} bytes expand to more than {expanded // 1_000_000} MB, over {MAX_EXPANSION} times as much"
        raise_file_error(file, f"{what}: if this is intended, decompress the file first")
