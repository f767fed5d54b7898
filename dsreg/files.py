"""Write files whole or not at all, one dsreg at a time, and show what would change."""

from __future__ import annotations

import errno
import itertools
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dsreg.errors import OutputError, RegistryError

STATE_DIR = ".dsreg"
_TEMP = re.compile(r"\.dsreg-(\d+)-([0-9a-f]+)\.tmp")
_SELF = os.urandom(4).hex()  # tells this process from an earlier one of the same number, as containers have
_serial = itertools.count()
_CONTEXT = 3
_DIFF_LIMIT = 25_000_000  # pairs of lines; comparing more takes minutes

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space and run the command again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and run the command again"),
    errno.EROFS: ("the file system is read-only", "work in a copy of the project that you can write to"),
    errno.EACCES: ("no permission to write here", "check the owner and the mode of the file and its folder"),
    errno.EPERM: ("no permission to write here", "check the owner and the mode of the file and its folder"),
    errno.ENAMETOOLONG: ("the file name is too long", "choose a shorter name"),
}


def output_error(error: OSError, path: Path) -> OutputError:
    """Say what kept a file from being written, and what to do about it."""
    reason, hint = _REASONS.get(error.errno or 0, (error.strerror or str(error), ""))
    return OutputError(f"cannot write: {reason}", where=str(path), hint=hint)


def read_regular(path: Path, *, limit: int) -> bytes | None:
    """Return a regular file's bytes, None when there is no such file.

    Raises RegistryError for a folder, a device, a pipe, a file larger than `limit` bytes or one that cannot be read.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise RegistryError("not a regular file", where=str(path))
        if found.st_size > limit:
            raise RegistryError(f"larger than {limit >> 20} MiB", where=str(path))
        return path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise RegistryError("a link to a file that is not there", where=str(path)) from None
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RegistryError(f"cannot be read: {reason}", where=str(path)) from None


def atomic_write(path: Path, data: bytes) -> None:
    """Replace a file's content: killed at any moment, the old or the new content is there, whole.

    A symbolic link is written through and the permissions of an existing file stay. Missing parent folders are made.
    Raises OutputError when the file is write-protected or the system refuses.
    """
    real = Path(os.path.realpath(path))
    temp = temp_beside(real)
    try:
        mode = _writable_mode(real)
        make_dirs(real.parent)
        try:
            _write_synced(temp, data, mode)
            temp.replace(real)
        except BaseException:
            with suppress(OSError):
                temp.unlink()
            raise
        _sync_dir(real.parent)
    except OSError as error:
        raise output_error(error, path) from error


def temp_beside(path: Path) -> Path:
    """A name for a temporary file in the folder of another, by which `clean_leftovers` knows it."""
    return path.parent / f".dsreg-{os.getpid()}-{_SELF}{next(_serial):x}.tmp"


def open_temp(path: Path) -> int:
    """Create a temporary file and return its descriptor, locked as long as it is open: so it is known to be in use."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with suppress(ImportError, OSError):  # Windows, and file systems without locks: the process's number must do
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def move(old: Path, new: Path) -> None:
    """Rename a file, durably. Raises OutputError."""
    try:
        old.replace(new)
        _sync_dir(new.parent)
    except OSError as error:
        raise output_error(error, new) from error


def delete(path: Path) -> None:
    """Remove a file, durably; one that is gone already is fine. Raises OutputError."""
    try:
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            _sync_dir(path.parent)
    except OSError as error:
        raise output_error(error, path) from error


def make_dirs(path: Path) -> None:
    """Make a folder and its parents. Raises OutputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, path) from error


def _writable_mode(path: Path) -> int | None:
    """The permissions of an existing file; None when it is new."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OutputError("not a regular file", where=str(path))
    if not os.access(path, os.W_OK):
        raise OutputError("write-protected", where=str(path), hint=f"chmod u+w {path}")
    return stat.S_IMODE(found.st_mode)


def _write_synced(path: Path, data: bytes, mode: int | None) -> None:
    """Write a new file through to the disk."""
    with os.fdopen(open_temp(path), "wb") as file:
        file.write(data)
        file.flush()
        if mode is not None:
            path.chmod(mode)
        os.fsync(file.fileno())


def _sync_dir(path: Path) -> None:
    """Make a rename in this folder durable; Windows cannot open folders and needs no such thing."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def clean_leftovers(*folders: Path) -> list[Path]:
    """Remove temporary files that killed processes left in these folders; return what was removed."""
    removed = []
    for folder in folders:
        with suppress(OSError):  # a folder that is not there, or that may not be listed
            for path in folder.iterdir():
                match = _TEMP.fullmatch(path.name)
                if match and not _alive(int(match[1]), match[2]) and not in_use(path):
                    path.unlink()
                    removed.append(path)
    return removed


def in_use(path: Path) -> bool:
    """Whether a process, perhaps one of another container, still writes this file."""
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except ImportError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _alive(pid: int, mark: str) -> bool:
    if pid == os.getpid():
        return mark.startswith(_SELF)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


@contextmanager
def project_lock(root: Path, *, timeout: float = 120) -> Iterator[None]:
    """Hold the project's lock: one dsreg at a time changes it. The system releases it when a process dies.

    Raises OutputError when the lock stays taken for `timeout` seconds, naming who holds it.
    """
    from filelock import FileLock, Timeout

    state = state_dir(root)
    owner = state / "owner"
    lock = FileLock(state / "lock", timeout=timeout, poll_interval=0.02)
    try:
        lock.acquire()
    except Timeout:
        raise _taken(owner, timeout) from None
    except OSError as error:
        raise output_error(error, state / "lock") from error
    try:
        with suppress(OSError):  # only for the message above
            owner.write_text(str(os.getpid()), encoding="ascii")
        clean_leftovers(root, state)
        yield
    finally:
        lock.release()


def _taken(owner: Path, timeout: float) -> OutputError:
    with suppress(OSError, ValueError):
        pid = int(owner.read_text(encoding="ascii"))
        return OutputError(
            f"another dsreg (process {pid}) has been changing this project for {timeout:g} s",
            where=str(owner.parent),
            hint=f"wait for it to finish, or end process {pid}",
        )
    return OutputError("another process holds the project's lock", where=str(owner.parent), hint="try again later")


def state_dir(root: Path) -> Path:
    """The project's untracked folder, made when absent. Raises OutputError."""
    state = root / STATE_DIR
    if state.is_symlink():
        raise OutputError("a symbolic link stands where dsreg keeps its state", where=str(state), hint=f"rm {state}")
    make_dirs(state)
    for path in state.iterdir():
        if path.is_symlink():  # a repository may bring one, to have a file outside overwritten
            raise OutputError("a symbolic link stands where dsreg keeps its state", where=str(path), hint=f"rm {path}")
    ignore = state / ".gitignore"
    if not ignore.exists():
        atomic_write(ignore, b"*\n")
    return state


def unified_diff(old: bytes | None, new: bytes | None, path: str) -> str:
    """A unified diff of a file's two contents, None standing for a file that is not there; "" when they are equal."""
    if old == new:
        return ""
    before, after = _lines(old), _lines(new)
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    first = max(0, start - _CONTEXT)
    left = before[first : len(before) - max(0, end - _CONTEXT)]
    right = after[first : len(after) - max(0, end - _CONTEXT)]
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    return f"--- {names[0]}\n+++ {names[1]}\n" + "".join(_hunks(left, right, first))


def _hunks(left: list[str], right: list[str], first: int) -> Iterator[str]:
    """The hunks between two pieces that start at line `first` of their files."""
    import difflib

    if len(left) * len(right) > _DIFF_LIMIT:
        yield f"@@ {len(left)} lines become {len(right)} lines: too many to compare here @@\n"
        return
    for group in difflib.SequenceMatcher(None, left, right, autojunk=False).get_grouped_opcodes(_CONTEXT):
        l1, l2, r1, r2 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        yield f"@@ -{_range(first + l1, l2 - l1)} +{_range(first + r1, r2 - r1)} @@\n"
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from (_shown(" ", line) for line in left[a:b])
                continue
            yield from (_shown("-", line) for line in left[a:b])
            yield from (_shown("+", line) for line in right[c:d])


def _range(start: int, length: int) -> str:
    return f"{start + 1 if length else start},{length}"


def _shown(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def _lines(data: bytes | None) -> list[str]:
    """Lines ending at `\\n` only: a carriage return is a character that a diff must show as changed."""
    text = (data or b"").decode("utf-8", "replace")
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _common(left: list[str], right: list[str]) -> int:
    """How many lines the two begin with in common."""
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return at
    return min(len(left), len(right))
