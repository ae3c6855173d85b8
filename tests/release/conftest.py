"""sdist and wheel as a release makes them, and an environment that has the wheel alone."""

import os
import shutil
import subprocess
import sys
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.release.environment import ROOT, Installed
from tests.support import PATIENCE_SECONDS

# Tests and documents are copied as well, so that packing them would show.
COPIED = (
    ".gitignore",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "attnwidget",
    "docs",
    "hatch_build.py",
    "js",
    "pyproject.toml",
    "tests",
)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, with stray files that must not be packed."""
    folder = tmp_path_factory.mktemp("release") / "checkout"
    folder.mkdir()
    leave = shutil.ignore_patterns("node_modules", "__pycache__", "__screenshots__")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=leave)
        else:
            shutil.copy(ROOT / name, folder / name)
    (folder / "js" / "node_modules").symlink_to(ROOT / "js" / "node_modules")
    static = folder / "attnwidget" / "static"
    shutil.rmtree(static, ignore_errors=True)
    static.mkdir()
    for stray in ("widget.js.map", "page.css", ".DS_Store"):
        (static / stray).write_text("stray", encoding="utf-8")
    (folder / "attnwidget" / "__pycache__").mkdir()
    (folder / "attnwidget" / "__pycache__" / "show.cpython-310.pyc").write_bytes(b"stray")
    return folder


@pytest.fixture(scope="session")
def sdist(checkout: Path) -> Path:
    _build("--sdist", checkout, os.environ["PATH"])
    [path] = (checkout / "dist").glob("*.tar.gz")
    return path


@pytest.fixture(scope="session")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist, where no program is found, npm and Node neither."""
    folder = tmp_path_factory.mktemp("sdist")
    # Without a filter, which Python knows from 3.11.4 on: the archive is our own.
    shutil.unpack_archive(sdist, folder)
    [unpacked] = folder.iterdir()
    nothing = folder / "nothing"
    nothing.mkdir()
    assert shutil.which("npm", path=str(nothing)) is None
    _build("--wheel", unpacked, str(nothing))
    [path] = (unpacked / "dist").glob("*.whl")
    return path


def _build(what: str, folder: Path, path: str) -> None:
    command = [sys.executable, "-m", "build", what, str(folder)]
    run = subprocess.run(
        command,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture(scope="session")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        [name] = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


@pytest.fixture(scope="session")
def installed(
    wheel: Path, metadata: Message, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    folder = tmp_path_factory.mktemp("installed") / "venv"
    _python("-m", "venv", "--without-pip", str(folder))
    found = Installed(folder)
    wanted = [Requirement(text) for text in metadata.get_all("Requires-Dist") or ()]
    for_a_browser = {"sys_platform": "emscripten", "extra": ""}
    needed = [str(r) for r in wanted if not r.marker or r.marker.evaluate(for_a_browser)]
    install = ("-m", "pip", "--python", str(found.python), "install", "--quiet")
    _python(*install, *needed)
    _python(*install, "--no-deps", str(wheel))
    return found


def _python(*arguments: str) -> None:
    run = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert run.returncode == 0, run.stdout + run.stderr
