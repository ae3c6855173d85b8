"""Published archives hold the package, its bundles and its licence, and nothing else."""

import re
import subprocess
import sys
import tarfile
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

from tests.release.environment import ROOT
from tests.support import PATIENCE_SECONDS

BUNDLES = {f"attnwidget/static/{name}.js" for name in ("widget", "start", "page", "viewer")}


def _files(*patterns: str) -> set[str]:
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    return {path.relative_to(ROOT).as_posix() for path in found}


def _package() -> set[str]:
    return (
        _files(
            "attnwidget/**/*.py", "attnwidget/**/*.pyi", "attnwidget/py.typed", "attnwidget/*.json"
        )
        | BUNDLES
    )


def test_the_wheel(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert all(archive.read(name) for name in BUNDLES)
    about = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    described = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert names == _package() | {f"{about}/{name}" for name in described}
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_sdist(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    root = sdist.name.removesuffix(".tar.gz")
    names = {member.name.removeprefix(f"{root}/") for member in members if member.isfile()}
    front_end = _files("js/src/**/*", "js/assembly/**/*") | _files(
        *(f"js/{name}" for name in ("build.mjs", "inline.mjs", "package*.json", "tsconfig.json"))
    )
    described = {"CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
    assert names == _package() | front_end | described | {".gitignore", "hatch_build.py"}
    assert all(member.isfile() or member.isdir() for member in members)


def test_the_bundles_name_no_source_map(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        for name in BUNDLES:
            assert b"sourceMappingURL" not in archive.read(name)


def test_the_metadata_is_accepted(sdist: Path, wheel: Path) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("PASSED") == 2


def test_the_description_points_at_nothing_that_a_package_index_lacks(metadata: Message) -> None:
    text = metadata.get_payload()
    assert isinstance(text, str)
    assert text.startswith("# attnwidget\n")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for heading in re.findall(r"^## .*$", readme, re.MULTILINE):
        assert heading in text
    targets = re.findall(r"\]\(([^)]*)\)", text)
    assert all(target.startswith(("https://", "#")) for target in targets)
    assert metadata.get_content_type() == "text/plain"
    assert metadata["Description-Content-Type"] == "text/markdown"
