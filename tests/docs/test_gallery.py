"""The entries of the gallery: their code, and what they say of the model that comes along."""

import ast

import pytest

from scripts.gallery_entries import FOLDER, Entry, entries

ENTRIES = entries()


def named(entry: Entry) -> str:
    return entry.name


def test_every_file_is_an_entry() -> None:
    assert sorted(map(named, ENTRIES)) == sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_its_code_is_short_and_its_claims_are_there(entry: Entry) -> None:
    statements = [
        each
        for each in ast.parse(entry.code).body
        if not isinstance(each, ast.Import | ast.ImportFrom)
    ]
    assert len(statements) <= 8
    assert "assert " in entry.claims
    assert entry.title
    assert entry.text


@pytest.mark.parametrize("entry", [each for each in ENTRIES if each.embedded], ids=named)
def test_what_needs_no_other_model_runs_and_holds(entry: Entry) -> None:
    widget = entry.run()
    assert widget.to_html().startswith("<!doctype html>")
    widget.close()
