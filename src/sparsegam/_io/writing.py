"""Atomic writing of files, so that other processes never read an incomplete file."""

import os
import re
import stat
from contextlib import suppress
from io import BytesIO
from pathlib import Path as FilePath
from typing import Any
from uuid import uuid4

NAMED_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
STANDARD_STREAMS = {"-": 1, "/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def write_atomically(file: str | os.PathLike[str], content: str | bytes) -> FilePath:
    """Write a temporary file in the same folder and rename it. If this fails, nothing is changed.

    Parameters
    ----------
    file : str or path-like
        File to write. An existing file is replaced and keeps its mode, and a symbolic link is followed. Other kinds of
        files (pipes, /dev/null, /dev/stdout) are written to directly; "-" is the standard output.
    content : str or bytes
        Text is encoded as UTF-8.

    Returns
    -------
    pathlib.Path
        The file, as it was passed.
    """
    raw = content.encode("utf-8") if isinstance(content, str) else content
    try:
        _write(os.fspath(file), raw)
    except OSError as error:
        # The error would otherwise name the temporary file, or no file.
        error.filename = os.fspath(file)
        raise
    return FilePath(file)


def save_workbook(book: Any, to: Any) -> None:
    """Save an openpyxl workbook to a path (atomically) or to an open binary file."""
    if hasattr(to, "write"):
        book.save(to)
        return
    buffer = BytesIO()
    book.save(buffer)
    write_atomically(to, buffer.getvalue())


def _write(name: str, raw: bytes) -> None:
    path = name if name == "-" else os.path.abspath(name)
    descriptor = NAMED_DESCRIPTOR.fullmatch(path)
    number = int(descriptor.group(1)) if descriptor else STANDARD_STREAMS.get(path)
    if number is not None:
        _write_descriptor(os.dup(number), raw)
        return
    try:
        state = os.stat(name)
    except FileNotFoundError:
        _replace(os.path.realpath(name), raw, None)
        return
    if stat.S_ISREG(state.st_mode):
        _replace(os.path.realpath(name), raw, state)
    else:
        _write_descriptor(os.open(name, os.O_WRONLY), raw)


def _replace(name: str, raw: bytes, old: os.stat_result | None) -> None:
    """Write a temporary file with the mode of the old file, or the default mode, and rename it."""
    if old is not None and not os.access(name, os.W_OK):
        raise PermissionError(13, os.strerror(13), name)
    temporary = os.path.join(os.path.dirname(name), f".sparsegam-{uuid4().hex}")
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        _write_descriptor(os.open(temporary, flags, mode), raw, sync=True)
        if old is not None:
            _copy_owner(temporary, old)
            os.chmod(temporary, mode)
        os.replace(temporary, name)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _write_descriptor(descriptor: int, raw: bytes, *, sync: bool = False) -> None:
    with open(descriptor, "wb") as stream:
        stream.write(raw)
        if sync:
            # A full disk may be reported only now.
            stream.flush()
            os.fsync(descriptor)


def _copy_owner(file: str, old: os.stat_result) -> None:
    """Set the owner to that of the replaced file if permitted, which matters for programs that run as root."""
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):
            os.chown(file, old.st_uid, old.st_gid)
