"""What is in a file, as bytes: unpacked within limits, and refused in one line where that cannot be.

A small file may unpack to more than the machine has. So a gzipped file, or a workbook (which is a ZIP archive), may
unpack to MOST_RATIO times its size, or to ALWAYS_ALLOWED bytes, and to no more than there is memory for.
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

MOST_RATIO = 200  # bytes out of one: tables pack to a tenth or so, what was made to do harm to a thousandth
ALWAYS_ALLOWED = 10_000_000
BYTES_PER_BYTE = 12  # memory that a byte of text takes while it becomes columns
PIECE = 1 << 20
GZIP = b"\x1f\x8b"
STANDARD_INPUT = FilePath("-")


class FileError(ValueError):
    """A file that cannot be read as a table; the message is one line with the remedy."""


def refuse(file: FilePath, why: str) -> NoReturn:
    """Raise a FileError that names the file."""
    msg = f"{file}: {' '.join(why.split())}."
    raise FileError(msg)


def check_file(file: FilePath) -> None:
    """Raise unless there is a file with something in it; of a pipe nobody knows before it is read."""
    if file == STANDARD_INPUT:
        return
    if not file.exists():
        refuse(file, "there is no such file")
    if file.is_dir():
        refuse(file, "this is a folder: give a file")
    state = file.stat()
    if stat.S_ISREG(state.st_mode) and state.st_size == 0:
        refuse(file, "the file is empty")


def unpacked(file: FilePath) -> bytes:
    """Return the bytes of a file, or of the standard input, those of a gzipped one unpacked."""
    if file == STANDARD_INPUT:
        raw = sys.stdin.buffer.read()
    else:
        check_memory(file, file.stat().st_size * BYTES_PER_BYTE)
        raw = file.read_bytes()
    return _gunzipped(file, raw) if raw[:2] == GZIP else raw


def check_archive(file: FilePath, raw: bytes) -> None:
    """Raise where a ZIP archive says that it unpacks to too much; one that says too little is cut off by its reader."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        total = sum(entry.file_size for entry in archive.infolist())
    _check_ratio(file, total, len(raw))
    check_memory(file, total)


def check_memory(file: FilePath, needed: int) -> None:
    """Raise where reading a file would take more memory than is free."""
    free = free_memory()
    if free is not None and needed > free:
        what = f"reading it takes about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free"
        refuse(file, f"{what}: take a sample of the rows, fewer columns, or a Parquet file")


def free_memory() -> int | None:
    """Return the bytes that may still be taken, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            lines = dict(line.split(":", 1) for line in stream)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def decoded(file: FilePath, raw: bytes, encoding: str) -> bytes:
    """Return the bytes of a text in UTF-8, without a byte order mark."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") and encoding.lower() == "utf-8":
        refuse(file, "this is UTF-16: save the file as UTF-8, or pass --encoding utf-16")
    if b"\0" in raw[:4096] and not encoding.lower().startswith("utf-16"):
        refuse(file, "this is no text file: give CSV, or the right ending (.parquet, .feather, .xlsx)")
    try:
        text = raw.decode("utf-8-sig" if encoding.lower() == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        what = f"byte 0x{raw[error.start]:02x} in line {line} is not {encoding}"
        refuse(file, f"{what}: save the file as UTF-8, or name its encoding, as in --encoding latin-1")
    except LookupError:
        refuse(file, f"there is no encoding named {encoding!r}")
    return text.encode()


def _gunzipped(file: FilePath, raw: bytes) -> bytes:
    pieces, total = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            while piece := stream.read(PIECE):
                pieces.append(piece)
                total += len(piece)
                _check_ratio(file, total, len(raw))
                check_memory(file, total * (BYTES_PER_BYTE - 1))  # beside what is unpacked already
    except (OSError, EOFError, zlib.error) as error:
        refuse(file, f"the gzip file is damaged ({error})")
    return b"".join(pieces)


def _check_ratio(file: FilePath, unpacked_size: int, size: int) -> None:
    if unpacked_size > max(MOST_RATIO * size, ALWAYS_ALLOWED):
        what = f"its {size} bytes unpack to more than {unpacked_size // 1_000_000} MB, over {MOST_RATIO} times as many"
        refuse(file, f"{what}: if that is meant so, unpack the file and give what is in it")


@contextmanager
def named_errors(files: Sequence[FilePath]) -> Iterator[None]:
    """Turn what Arrow and the system say of a file into one line that names it."""
    import pyarrow as pa

    try:
        yield
    except FileError:
        raise
    except (pa.ArrowException, OSError) as error:
        gone = [file for file in files if not file.exists()]
        if gone:
            refuse(gone[0], "the file is gone: it was there when the scan began")
        first = str(error).splitlines()[0].rstrip(".")
        refuse(files[0] if len(files) == 1 else FilePath(f"one of {len(files)} files"), f"cannot be read ({first})")
