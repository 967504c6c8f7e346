"""The one way in which files are written: whole or not at all, so that nobody ever sees half of one."""

import os
import re
import stat
from contextlib import suppress
from io import BytesIO
from pathlib import Path as FilePath
from typing import Any
from uuid import uuid4

NAMED_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
STANDARD = {"-": 1, "/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def write_atomically(file: str | os.PathLike[str], content: str | bytes) -> FilePath:
    """Write a file beside its place and move it there; where that fails, nothing is left behind or changed.

    Parameters
    ----------
    file : str or path-like
        Where to write. A file that is there is replaced and keeps its mode; of a link, the file that it leads to. What
        is no regular file (a pipe, /dev/null, /dev/stdout) is written to as it is; "-" is the standard output.
    content : str or bytes
        Text is written as UTF-8.

    Returns
    -------
    pathlib.Path
        The file, as it was named.
    """
    raw = content.encode("utf-8") if isinstance(content, str) else content
    try:
        _write(os.fspath(file), raw)
    except OSError as error:
        error.filename = os.fspath(file)  # not that of the draft, nor none
        raise
    return FilePath(file)


def save_workbook(book: Any, to: Any) -> None:
    """Save a workbook of openpyxl to a path, whole or not at all, or to a binary file that is open already."""
    if hasattr(to, "write"):
        book.save(to)
        return
    draft = BytesIO()
    book.save(draft)
    write_atomically(to, draft.getvalue())


def _write(name: str, raw: bytes) -> None:
    descriptor = _descriptor(name)
    if descriptor is not None:
        _pour(os.dup(descriptor), raw)
        return
    with suppress(FileNotFoundError):
        state = os.stat(name)
        if not stat.S_ISREG(state.st_mode):
            _pour(os.open(name, os.O_WRONLY), raw)
            return
        _replace(os.path.realpath(name), raw, state)
        return
    _replace(os.path.realpath(name), raw, None)


def _descriptor(name: str) -> int | None:
    """Return the number of a file that is open already and only goes by a name; it keeps its place and its length."""
    path = name if name == "-" else os.path.abspath(name)
    named = NAMED_DESCRIPTOR.fullmatch(path)
    return int(named.group(1)) if named else STANDARD.get(path)


def _replace(name: str, raw: bytes, old: os.stat_result | None) -> None:
    """Write a draft in the same folder, with the mode of the old file or that of the umask, and rename it."""
    if old is not None and not os.access(name, os.W_OK):
        raise PermissionError(13, os.strerror(13), name)
    draft = os.path.join(os.path.dirname(name), f".sparsegam-{uuid4().hex}")
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode)
    try:
        _pour(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode), raw, sync=True)
        if old is not None:
            _keep_owner(draft, old)
            os.chmod(draft, mode)
        os.replace(draft, name)
    except BaseException:  # Ctrl-C too
        with suppress(OSError):
            os.unlink(draft)
        raise


def _pour(descriptor: int, raw: bytes, *, sync: bool = False) -> None:
    with open(descriptor, "wb") as stream:
        stream.write(raw)
        if sync:
            stream.flush()
            os.fsync(descriptor)  # a full disk may say so only now


def _keep_owner(draft: str, old: os.stat_result) -> None:
    """Give a draft the owner of the file that it replaces, where one may: it matters to those who write as root."""
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):
            os.chown(draft, old.st_uid, old.st_gid)
