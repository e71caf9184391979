"""What is given as the file: ours, nobody's, somebody else's, newer, unreachable."""

import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

import holdfast
from holdfast.store.sqlite.posix import network_kind
from tests.store import children

CSV = "Prefers reports in CSV format"
MOUNTS = r"""
22 28 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw
28 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
40 28 0:36 / /srv/team rw,relatime shared:22 - nfs4 server:/export rw,vers=4.2
41 40 8:17 / /srv/team/local rw,relatime - xfs /dev/sdb1 rw
42 28 0:40 / /mnt/with\040space rw - cifs //server/share rw
43 28 0:41 / /mnt/ssh rw - fuse.sshfs alice@server:/ rw
44 28 0:42 / /mnt/fuse rw - fuse.ntfs-3g /dev/sdc1 rw
45 28 0:43 / /mnt/vm rw master:4 propagate_from:2 - 9p share rw
"""


@pytest.fixture
def path(tmp_path):
    """Where the file is, or is to be."""
    return tmp_path / "agent.db"


def refused(path, **how):
    """The error with which a file is refused; it names the remedy."""
    with pytest.raises(holdfast.Misconfigured) as caught:
        holdfast.open(path, **how)
    assert caught.value.hint
    return caught.value


def contents(folder):
    """Names and bytes of all files of a folder but for those that never hold a word of anybody's.

    Those are the lock file, and the index and the empty log that SQLite makes to read a log.
    """
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    empty = [name for name, data in files.items() if name.endswith("-wal") and not data]
    silent = [name for name in files if name.endswith(("-lock", "-shm"))]
    return {name: data for name, data in files.items() if name not in empty + silent}


def test_a_new_file_is_its_users_alone(path):
    """Memories are nobody else's to read."""
    holdfast.open(path).close()

    assert path.stat().st_mode & 0o777 == 0o600


def test_an_empty_file_becomes_ours(path):
    """It is what `touch` or a temporary file leaves."""
    path.touch()

    with holdfast.open(path) as memory:
        memory.scope(user="alice").remember(CSV)

    with holdfast.open(path) as memory:
        assert [hit.text for hit in memory.scope(user="alice").records()] == [CSV]


def test_after_closing_one_file_holds_everything(path):
    """It can be copied: the log is folded into it."""
    with holdfast.open(path) as memory:
        memory.scope(user="alice").remember(CSV)

    copy = path.with_name("copy.db")
    shutil.copy(path, copy)

    with holdfast.open(copy) as memory:
        assert [hit.text for hit in memory.scope(user="alice").records()] == [CSV]


def test_a_directory_is_refused(tmp_path):
    """With a file name to use instead."""
    error = refused(tmp_path)

    assert "directory" in str(error)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_refused(tmp_path):
    """A typo in a path must not make a tree."""
    refused(tmp_path / "typo" / "agent.db")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [{}, {"read_only": True}], ids=["write", "read"])
@pytest.mark.parametrize(
    "text", [b"Dear diary,\n", b"x" * 10_000, b"\0" * 8_192, b"SQLite format 3\0 or not"],
    ids=["note", "long", "zeros", "pretender"],
)  # fmt: skip
def test_a_file_that_is_no_database_is_refused_untouched(path, text, how):
    """Somebody's notes are not overwritten."""
    path.write_bytes(text)

    refused(path, **how)

    assert contents(path.parent) == {"agent.db": text}


@pytest.mark.parametrize("how", [{}, {"read_only": True}], ids=["write", "read"])
@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE notes (text); INSERT INTO notes VALUES ('Dear diary');",
        "PRAGMA application_id = 252006674;",
        "CREATE TABLE meta (name, value); CREATE TABLE records (id);",
    ],
    ids=["tables", "application id", "names like ours"],
)
def test_another_applications_database_is_refused_untouched(path, script, how):
    """Byte for byte, whatever its tables are called."""
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    before = contents(path.parent)

    error = refused(path, **how)

    assert "another application" in str(error)
    assert contents(path.parent) == before


class TestANewerFile:
    """Written by a later version; `meta` says what it needs."""

    @pytest.fixture
    def newer(self, path):
        """A function that makes the file ask for more than this version can."""

        def make(**wanted):
            with holdfast.open(path) as memory:
                memory.scope(user="alice").remember(CSV)
            connection = sqlite3.connect(path)
            for name, value in {**wanted, "needs": "9.8.7"}.items():
                connection.execute("UPDATE meta SET value = ? WHERE name = ?", (value, name))
            connection.commit()
            connection.close()
            return contents(path.parent)

        return make

    @pytest.mark.parametrize("how", [{}, {"read_only": True}], ids=["write", "read"])
    def test_one_that_cannot_be_read_is_refused_untouched(self, path, newer, how):
        """The version needed is named, as a command that helps."""
        before = newer(min_reader=99, min_writer=99)

        error = refused(path, **how)

        assert "9.8.7" in str(error)
        assert error.hint == "pip install 'holdfast>=9.8.7'"
        assert error.needs == "9.8.7"
        assert contents(path.parent) == before

    def test_one_that_cannot_be_written_is_refused_untouched(self, path, newer):
        """Writing the old way would break it for the new."""
        before = newer(min_writer=99)

        error = refused(path)

        assert "written" in str(error)
        assert "9.8.7" in str(error)
        assert contents(path.parent) == before

    def test_one_that_cannot_be_written_can_still_be_read(self, path, newer):
        """That is what the two numbers are for."""
        newer(min_writer=99)

        with holdfast.open(path, read_only=True) as memory:
            assert [hit.text for hit in memory.scope(user="alice").records()] == [CSV]


def test_a_read_only_folder_is_told_apart_from_a_broken_disk():
    """As an unprivileged user: writing needs the folder, reading does not."""
    # Not pytest's own folder: its parents are closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="holdfast-"))
    folder.chmod(0o755)
    try:
        writing, reading, making = children.run("without_rights", folder)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)

    assert writing[0] == making[0] == "Misconfigured"
    assert "writable" in writing[1]
    assert "writable" in making[1]
    assert reading == [CSV]


def test_reading_alone_takes_no_lock_and_changes_nothing(path):
    """It needs no right to write."""
    with holdfast.open(path) as memory:
        memory.scope(user="alice").remember(CSV)
    Path(f"{path}-lock").unlink()
    before = contents(path.parent)

    with holdfast.open(path, read_only=True) as memory:
        memory.scope(user="alice").recall("reports")

    assert contents(path.parent) == before
    assert not Path(f"{path}-lock").exists()


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("/var/agent.db", None),
        ("/srv/team/agent.db", "nfs4"),
        ("/srv/teams/agent.db", None),
        ("/srv/team/local/agent.db", None),
        ("/srv/team/local/deep/er/agent.db", None),
        ("/mnt/with space/agent.db", "cifs"),
        ("/mnt/ssh/agent.db", "fuse.sshfs"),
        ("/mnt/fuse/agent.db", None),
        ("/mnt/vm/agent.db", "9p"),
    ],
)
def test_a_network_file_system_is_known_by_the_innermost_mount(file, kind):
    """Its locks do not hold, so a database there would be lost one day."""
    assert network_kind(file, MOUNTS.strip()) == kind


def test_a_system_that_says_nothing_refuses_nothing():
    """What is not known is not forbidden."""
    assert network_kind("/var/agent.db", "") is None
