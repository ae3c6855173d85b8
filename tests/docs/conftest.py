"""The site of the documents, built once as `make docs` does."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import Html, parsed

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    options = ["--fail-on-warning", "--keep-going", "--quiet", "--doctree-dir", folder / "trees"]
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ROOT / "docs", folder / "html"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (made.returncode, made.stdout + made.stderr) == (0, "")
    return folder / "html"


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, Html]:
    """Address in the site -> page, without those that are in frames."""
    found = {path.relative_to(site).as_posix(): parsed(path) for path in site.rglob("*.html")}
    return {name: page for name, page in found.items() if not name.startswith(("_live", "_static"))}
