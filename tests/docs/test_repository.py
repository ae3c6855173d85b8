"""The files of the repository say the same as the package."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from tests.docs.conftest import ROOT

tomllib = pytest.importorskip("tomllib", reason="of Python 3.11")

GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _steps(workflow: Any) -> list[str]:
    jobs = workflow["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def test_what_is_cited_is_this_version() -> None:
    cited = _yaml(ROOT / "CITATION.cff")
    assert (cited["version"], cited["license"]) == (PROJECT["version"], PROJECT["license"])
    assert cited["authors"] == PROJECT["authors"]
    assert cited["keywords"] == PROJECT["keywords"]


def test_the_recipe_asks_for_what_the_package_does() -> None:
    recipe = _yaml(ROOT / "docs" / "develop" / "recipe.yaml")
    assert recipe["context"]["version"] == PROJECT["version"]
    asked = [Requirement(text) for text in PROJECT["dependencies"]]
    wanted = {f"{each.name} {each.specifier}".strip().replace("torch ", "pytorch ", 1)
              for each in asked}  # fmt: skip
    assert set(recipe["requirements"]["run"]) == wanted | {f"python {PROJECT['requires-python']}"}
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_hooks_before_a_commit_are_those_of_make_check() -> None:
    [hooks] = [repo["hooks"] for repo in _yaml(ROOT / ".pre-commit-config.yaml")["repos"]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [check] = re.findall(r"^check:.*\n((?:\t.*\n)+)", makefile, re.M)
    check = check.replace("$(PY)", ".venv/bin/python").replace("$(VENV)", ".venv")
    check = check.replace("cd js && $(NPM) run", "npm --prefix js run")
    for hook in hooks:
        assert hook["entry"] in check
    assert len(hooks) == len(check.splitlines())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_names_what_there_is(path: Path) -> None:
    steps = _steps(_yaml(path))
    files = {found for step in steps for found in re.findall(r"\b(?:tests|js)/[\w./-]+", step)}
    assert [file for file in files if not (ROOT / file).exists()] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for step in steps:
        for target in re.findall(r"^make ([\w-]+)", step, re.M):
            assert f"\n{target}:" in makefile
    assert "has not run yet" in path.read_text(encoding="utf-8").replace("\n# ", " ")


def test_three_systems_and_every_python() -> None:
    matrix = _yaml(GITHUB / "workflows" / "ci.yml")["jobs"]["systems"]["strategy"]["matrix"]
    assert len(matrix["os"]) == 3
    first = int(re.findall(r"3\.(\d+)", PROJECT["requires-python"])[0])
    assert matrix["python"] == [f"3.{minor}" for minor in range(first, 15)]


@pytest.mark.parametrize("name", ["bug", "number"])
def test_an_issue_brings_what_the_doctor_says(name: str) -> None:
    fields = {
        field["id"]: field for field in _yaml(GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml")["body"]
    }
    assert fields["doctor"]["validations"]["required"] is True
