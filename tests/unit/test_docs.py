"""What the documents point at exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    inline = re.findall(r"\]\(([^)#]+)", text)
    named = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", text, re.MULTILINE))
    for target in (*inline, *named.values()):
        assert "://" in target or (document.parent / target).exists(), target
    used = set(re.findall(r"\]\[([^\]]+)\]", text))
    assert used == named.keys()


def test_every_row_of_parity_is_held_by_a_test() -> None:
    text = (ROOT / "docs" / "parity.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) > 40
    unlinked = [row for row in rows if "][test_" not in row and "| test |" not in row]
    assert unlinked == []
