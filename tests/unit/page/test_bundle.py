"""A front end that was not built: what is said where something is to be shown."""

from pathlib import Path

import pytest

import attnwidget as aw
from attnwidget.cli import main
from attnwidget.page import bundle
from tests.unit.records import record_with_every_program


def test_a_missing_bundle_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bundle, "STATIC", tmp_path)
    record = record_with_every_program()
    message = r"widget\.js is missing, so nothing can be shown\. In a clone, run: make demo\. Else"
    with pytest.raises(FileNotFoundError, match=message):
        aw.show(record, static=False)
    with pytest.raises(FileNotFoundError, match=r"start\.js is missing"):
        aw.to_html(record)
    assert main(["viewer", "-o", str(tmp_path / "viewer.html")]) == 1
    assert "viewer.js is missing" in capsys.readouterr().err
