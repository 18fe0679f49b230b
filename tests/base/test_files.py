"""Files that are written completely or not at all, and one program at a time in a folder."""

import contextlib
import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from gtp_engine.base import files
from gtp_engine.base.errors import UserError
from gtp_engine.base.files import claim, files_with, folder_lock, read_whole, write_bytes, write_text
from gtp_engine.clients.cli import main

LIMIT = 60.0  # seconds for the end of a process
MESSAGE = "another program is using this folder; wait until it ends, or stop it"
HOLD = """
import sys
from pathlib import Path
from gtp_engine.base.files import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def hold(folder: Path) -> "subprocess.Popen[str]":
    """A process that holds the folder until it reads a line."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_a_pipe_gives_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = b"(;B[aa])" * 100_000

    def write() -> None:
        time.sleep(0.3)  # the reader is there first
        with open(pipe, "wb") as file:
            file.write(content[:9])
            file.flush()
            time.sleep(0.3)
            file.write(content[9:])

    writer = threading.Thread(target=write)
    writer.start()
    assert read_whole(pipe, 1) == content
    writer.join()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_reading_ends_at_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(1 << 20))
    assert len(read_whole(file, 1)) == 1 << 20
    for endless in (Path("/dev/zero"), Path("/dev/full")):
        with pytest.raises(UserError, match=r"^larger than 1 MB, "):
            read_whole(endless, 1)
    with open(file, "ab") as more:
        more.write(b"x")
    with pytest.raises(UserError, match="larger than 1 MB"):
        read_whole(file, 1)


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_exists_is_kept(tmp_path: Path, has_links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that another program has made while the content was written; until it is complete there is no file."""
    file = tmp_path / "game.sgf"

    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not has_links:
        monkeypatch.setattr(os, "link", no_links)

    existed = []

    def write_theirs(_: int) -> None:
        existed.append(file.exists())
        file.write_text("theirs")

    with monkeypatch.context() as patch, pytest.raises(FileExistsError, match=r"game\.sgf"):
        patch.setattr(os, "fsync", write_theirs)
        write_bytes(file, b"ours", overwrite=False)
    assert not existed[0] and file.read_text() == "theirs"
    file.unlink()
    write_bytes(file, b"ours", overwrite=False)
    assert file.read_text() == "ours" and list(tmp_path.iterdir()) == [file]


def test_a_link_remains_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file.name)
    write_text(link, "new")
    assert link.is_symlink() and file.read_text() == "new"
    assert sorted(tmp_path.iterdir()) == [file, link]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such rights")
def test_who_may_read_a_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.touch(0o600)
    write_text(path, "rank = '5k'")
    assert path.read_text() == "rank = '5k'" and path.stat().st_mode & 0o777 == 0o600


def test_a_link_that_leads_nowhere_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "loop"
    path.symlink_to(path)
    write_text(path, "text")
    assert path.read_text() == "text"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    """As /dev/null would be replaced for root, and stay so for all programs of the machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "text")
    assert os.read(reader, 100) == b"text" and pipe.is_fifo()
    os.close(reader)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="no /dev/stdout")
@pytest.mark.parametrize("name", ["/dev/stdout", "out.txt"])
def test_what_standard_output_goes_to_keeps_what_was_written_before(name: str, tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    file.write_text("old\n")
    code = f"print('before'); write_text(Path({name!r}), 'text\\n'); print('after')"
    code = f"from pathlib import Path; from gtp_engine.base.files import write_text; {code}"
    for mode, before in (("a", "old\n"), ("w", "")):
        with open(file, mode) as output:
            subprocess.run([sys.executable, "-c", code], stdout=output, cwd=tmp_path, check=True)
        assert file.read_text() == f"{before}before\ntext\nafter\n"
    assert list(tmp_path.iterdir()) == [file]


def test_files_with_a_suffix_are_found_without_hidden_ones(tmp_path: Path) -> None:
    (tmp_path / "deep.sgf").mkdir()
    for name in ("b.sgf", "A.SGF", ".c.4711.tmp.sgf", "._b.sgf", "d.txt", "deep.sgf/e.sgf"):
        (tmp_path / name).touch()
    assert files_with((".sgf",), tmp_path) == [tmp_path / "A.SGF", tmp_path / "b.sgf"]
    assert files_with((".sgf", ".txt"), tmp_path, subfolders=True) == [
        tmp_path / name for name in ("A.SGF", "b.sgf", "d.txt", "deep.sgf/e.sgf")
    ]
    assert files_with((".sgf",), tmp_path / "missing") == []


def test_the_second_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    process = hold(tmp_path)
    with pytest.raises(ValueError, match=f"{tmp_path}: {MESSAGE}"), folder_lock(tmp_path):
        pass
    process.communicate("go\n")
    with folder_lock(tmp_path):
        pass


def test_the_second_may_wait(tmp_path: Path) -> None:
    process = hold(tmp_path)
    with pytest.raises(ValueError, match=MESSAGE), folder_lock(tmp_path, seconds=0.2):
        pass
    start, released = time.monotonic(), threading.Timer(0.3, process.communicate, ["go\n"])
    released.start()
    with folder_lock(tmp_path, seconds=LIMIT):
        assert time.monotonic() - start >= 0.3
    released.join()


def test_two_names_are_two_locks(tmp_path: Path) -> None:
    with folder_lock(tmp_path), folder_lock(tmp_path, "other"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="flock is not Windows'")
def test_a_file_system_without_locks_is_an_error_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcntl.flock", Mock(side_effect=OSError(errno.ENOLCK, "No locks available")))
    with pytest.raises(OSError, match="No locks available"), folder_lock(tmp_path):
        pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError), folder_lock(tmp_path):
        pass


def test_a_killed_program_leaves_no_lock(tmp_path: Path) -> None:
    process = hold(tmp_path)
    process.kill()
    process.communicate()
    with folder_lock(tmp_path):
        pass


@pytest.mark.parametrize("command", ["train", "learn"])
def test_commands_that_learn_hold_their_folder(command: str, tmp_path: Path) -> None:
    run, record = tmp_path / "run", tmp_path / "game.sgf"
    record.write_text("(;GM[1]SZ[9])")
    run.mkdir()
    (run / "settings.toml").write_text("version = 1\n")
    arguments = {"train": ["train", str(run)], "learn": ["learn", str(record), "--out", str(run)]}[command]
    with folder_lock(run):
        files = {path.name for path in run.iterdir()}
        done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1
    assert done.stderr == f"Error: {run}: {MESSAGE}\n"
    assert {path.name for path in run.iterdir()} == files


def test_a_file_is_on_the_disk_before_it_takes_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.pt"
    path.write_text("old")
    steps = []
    monkeypatch.setattr(os, "fsync", lambda _: steps.append(path.read_text()))
    write_text(path, "new")
    assert (steps, path.read_text(), list(tmp_path.iterdir())) == (["old"], "new", [path])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has files without names")
@pytest.mark.parametrize("before", [None, "old"])
def test_a_program_that_is_killed_while_it_writes_leaves_nothing(before: str | None, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    if before is not None:
        path.write_text(before)
    code = f"os.fsync = lambda _: (print(flush=True), time.sleep({LIMIT})); write_text(Path({str(path)!r}), 'new')"
    code = f"import os, time; from pathlib import Path; from gtp_engine.base.files import write_text; {code}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"\n"
        process.kill()
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == (
        {} if before is None else {path.name: before}
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has files without names")
def test_a_file_system_without_files_that_have_no_name_is_written_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, opened = [], os.open

    def refuse(path: Path, flags: int, mode: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        names.append(Path(path).name)
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    write_bytes(tmp_path / "cookies", b"new", mode=0o600)
    assert names == [f".cookies.{os.getpid()}.{threading.get_ident()}.tmp"]
    assert [(file.name, file.stat().st_mode & 0o777) for file in tmp_path.iterdir()] == [("cookies", 0o600)]


def test_threads_may_write_a_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both, write = threading.Barrier(2, timeout=LIMIT), files._write_to_disk

    def wait(file: BinaryIO, content: bytes) -> None:
        write(file, content)
        both.wait()

    monkeypatch.setattr(files, "_write_to_disk", wait)
    monkeypatch.setattr("gtp_engine.base.files.sys.platform", "other")  # whose unfinished files have names
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda content: write_bytes(tmp_path / "file", content), (b"one", b"two!")))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() in (b"one", b"two!")


def test_a_claim_is_for_one_program_and_for_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "part[1].shard"
    with claim(path) as first, claim(path) as second:
        assert (first, second) == (True, False)
    with pytest.raises(ZeroDivisionError), claim(path) as again:
        assert again
        raise ZeroDivisionError
    with claim(path) as again:
        assert again
        path.touch()
        with claim(path) as another:
            assert not another
    with claim(path) as late:
        assert not late
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_claim_that_is_given_up_stays_with_the_program_that_waits_for_it(tmp_path: Path) -> None:
    """It has opened the lock file; a third one must not make another."""
    path = tmp_path / "part.shard"
    with claim(path):
        lock = tmp_path / ".part.lock"
        opened = lock.stat().st_ino
    assert lock.stat().st_ino == opened


def test_a_claim_removes_what_a_killed_program_left_of_the_file(tmp_path: Path) -> None:
    others = {"part.1.tmp.shard", ".part-2.77.tmp.shard", ".part.77.tmp.sgf", ".part.a.77.tmp.shard"}
    for name in (*others, ".part.77.tmp.shard"):
        (tmp_path / name).touch()
    with claim(tmp_path / "part.shard") as is_mine:
        assert is_mine
    assert {file.name for file in tmp_path.iterdir()} == {*others, ".part.lock"}


def test_a_lock_file_is_removed_once_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows refuses to remove an open file."""
    path, opened, unlink = tmp_path / "part.shard", [], Path.unlink

    @contextlib.contextmanager
    def lock(folder: Path, name: str) -> Iterator[None]:
        (folder / name).touch()
        opened.append(name)
        yield
        opened.remove(name)

    def remove(file: Path, missing_ok: bool = False) -> None:
        if file.name in opened:
            raise PermissionError(13, "The process cannot access the file", str(file))
        unlink(file, missing_ok=missing_ok)

    monkeypatch.setattr(files, "folder_lock", lock)
    monkeypatch.setattr(Path, "unlink", remove)
    with claim(path):
        path.touch()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    path.unlink()
    with claim(path):
        path.touch()
        opened.append(".part.lock")  # by another program too
    assert {file.name for file in tmp_path.iterdir()} == {path.name, ".part.lock"}
