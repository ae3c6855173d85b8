"""Hosted notebooks have all that attnwidget requires: pip changes none of it."""

import re
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement

INSTALLED = sorted((Path(__file__).parent / "constraints").glob("*.txt"))


@pytest.mark.parametrize("file", INSTALLED, ids=lambda file: str(file.stem))
def test_every_requirement_is_met(file: Path, metadata: Message) -> None:
    content = file.read_text(encoding="utf-8")
    installed = dict(line.split("==") for line in re.findall("^[a-z].*", content, re.M))
    [python] = re.findall(r"Python (\d\.\d+)", content)
    assert Requirement(f"python{metadata['Requires-Python']}").specifier.contains(python)
    asked = [Requirement(text) for text in metadata.get_all("Requires-Dist") or ()]
    needed = [
        each for each in asked if not each.marker or each.marker.evaluate({"extra": "figures"})
    ]
    assert len(needed) > 5
    for each in needed:
        assert each.specifier.contains(installed[each.name]), each
