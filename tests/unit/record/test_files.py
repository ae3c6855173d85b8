"""A file is written whole or not at all."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

import attnwidget as aw
from attnwidget import AttentionWidget
from attnwidget.record import files
from attnwidget.record.files import write_whole
from tests.unit.records import PROGRAMS, layer_of, record_of

not_as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all"
)


@pytest.fixture
def widget() -> AttentionWidget:
    return AttentionWidget(record_of(layer_of(PROGRAMS["causal"])))


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_page_is_the_only_file_that_is_left(widget: AttentionWidget, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    aw.save_html(path, widget, widget, views=["head"])
    assert path.read_text(encoding="utf-8") == aw.to_html(widget, widget, views=["head"])
    widget.save_html(path, layers=[0])
    assert path.read_text(encoding="utf-8") == widget.to_html(layers=[0])
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    write_whole(tmp_path / "ours", b"content")
    assert _mode(tmp_path / "ours") == _mode(tmp_path / "usual")


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"before")
    path.chmod(0o640)
    write_whole(path, b"after")
    assert (path.read_bytes(), _mode(path)) == (b"after", 0o640)


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "page.html", tmp_path / "link.html"
    target.write_bytes(b"before")
    link.symlink_to(target)
    write_whole(link, b"after")
    assert link.is_symlink()
    assert target.read_bytes() == b"after"


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_what_fails_leaves_everything_as_it_was(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"before")

    def full(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(files.os, failing, full)
    with pytest.raises(OSError, match="no space left"):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EPERM])
def test_what_cannot_be_replaced_is_written_in_place(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EBUSY: a file that is mounted by itself; EPERM: another user's in a folder such as /tmp."""
    path = tmp_path / "page.html"
    path.write_bytes(b"before")

    def busy(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.os, "replace", busy)
    write_whole(path, b"after")
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError, match=os.strerror(number)):
        write_whole(tmp_path / "new.html", b"content")
    assert list(tmp_path.iterdir()) == [path]


@not_as_root
def test_a_file_in_a_write_protected_folder(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"before")
    tmp_path.chmod(0o500)
    try:
        write_whole(path, b"after")
        with pytest.raises(PermissionError, match="its folder is write-protected"):
            write_whole(tmp_path / "new.html", b"content")
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == b"after"


def test_a_record_that_cannot_be_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "record.safetensors"
    record_of(layer_of(PROGRAMS["causal"])).save(path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        record_of(layer_of(PROGRAMS["softcap"])).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there(widget: AttentionWidget, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere; create it first"):
        widget.save_html(tmp_path / "nowhere" / "page.html")


def test_a_folder_is_no_file(widget: AttentionWidget, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder; give a file's path"):
        widget.save_html(tmp_path)


@not_as_root
def test_a_write_protected_file(widget: AttentionWidget, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"before")
    path.chmod(0o400)
    with pytest.raises(PermissionError, match="write-protected"):
        widget.save_html(path)
    assert path.read_bytes() == b"before"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(path, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert list(tmp_path.iterdir()) == [path]
