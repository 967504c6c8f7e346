"""Files are written as a whole or not at all: modes, links, pipes, devices, full disks."""

import errno
import os
import stat
import subprocess
import sys
import threading

import pytest

from sparsegam._io import writing
from sparsegam._io.writing import write_atomically

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and devices of POSIX")


def mode(file):
    return stat.S_IMODE(file.stat().st_mode)


def test_text_and_bytes_are_written(tmp_path):
    assert write_atomically(tmp_path / "a", "zürich\n").read_bytes() == "zürich\n".encode()
    assert write_atomically(str(tmp_path / "a"), b"\x00\r\n").read_bytes() == b"\x00\r\n"
    assert os.listdir(tmp_path) == ["a"]


@posix
@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_new_files_follow_the_umask(tmp_path, umask, expected):
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == expected


@posix
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o666, 0o755])
def test_existing_files_keep_their_mode(tmp_path, kept):
    file = tmp_path / "a"
    file.write_text("before")
    file.chmod(kept)
    write_atomically(file, "after")
    assert (mode(file), file.read_text()) == (kept, "after")


@posix
def test_links_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    target, link, chain = tmp_path / "real" / "a", tmp_path / "link", tmp_path / "chain"
    link.symlink_to(target)
    chain.symlink_to("link")
    for text in ("first", "second"):  # the target does not exist at first
        write_atomically(chain, text)
        assert link.is_symlink()
        assert chain.is_symlink()
        assert target.read_text() == text


@posix
def test_pipes_are_written_directly(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "through")
    reader.join()
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_devices_are_written_directly():
    write_atomically("/dev/null", "nothing")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
@pytest.mark.parametrize("to_file", [False, True])
def test_standard_output_is_written_directly(tmp_path, name, to_file):
    program = f"from sparsegam._io.writing import write_atomically\nwrite_atomically({name!r}, 'one\\n')\nprint('two')"
    with (tmp_path / "out").open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=out if to_file else subprocess.PIPE, check=True, timeout=60
        )
    assert ((tmp_path / "out").read_bytes() if to_file else done.stdout) == b"one\ntwo\n"


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_leaves_no_file(tmp_path, monkeypatch, there, failing):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    file = tmp_path / "a"
    if there:
        file.write_text("before")
    monkeypatch.setattr(writing.os, failing, full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically(file, "after")
    assert caught.value.filename == str(file)
    assert os.listdir(tmp_path) == (["a"] if there else [])
    assert not there or file.read_text() == "before"


def test_an_interrupt_leaves_no_file(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a", "x")
    assert os.listdir(tmp_path) == []


def test_folders_and_missing_folders_raise(tmp_path):
    for file in (tmp_path, tmp_path / "absent" / "a"):
        with pytest.raises(OSError, match="directory") as caught:
            write_atomically(file, "x")
        assert caught.value.filename == str(file)


def test_protected_files_raise_and_stay_unchanged(tmp_path, monkeypatch):
    file = tmp_path / "a"
    file.write_text("before")
    file.chmod(0o444)
    monkeypatch.setattr(writing.os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(PermissionError):
        write_atomically(file, "after")
    assert file.read_text() == "before"


@posix
def test_names_of_maximum_length_are_written(tmp_path):
    assert write_atomically(tmp_path / ("n" * 255), "x").read_text() == "x"
