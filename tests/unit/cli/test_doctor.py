"""attnwidget doctor: what is installed, what is wrong, and what to do"""

import json
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from attnwidget.cli import doctor, main


def _report(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, str]]:
    """The exit code, and the lines by what they are about."""
    code = main(["doctor"])
    *lines, _ = capsys.readouterr().out.splitlines()
    return code, {subject[2:]: text for subject, text in (line.split(": ", 1) for line in lines)}


def test_where_all_is_well(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in doctor._HOSTS:
        monkeypatch.delenv(name, raising=False)
    code, lines = _report(capsys)
    assert code == 0
    assert lines["host"] == "no notebook, a terminal or a script"
    assert lines["anywidget"] == version("anywidget")
    assert "fits ipywidgets" in lines[f"widget manager of jupyterlab {version('jupyterlab')}"]
    assert "Firefox 121" in lines["browser"]


def test_a_host_with_a_manager_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release-colab")
    _, lines = _report(capsys)
    assert lines["host"] == "Google Colab"
    assert lines["widget manager"] == "Google Colab's own"


@pytest.mark.parametrize(
    ("versions", "subject", "text"),
    [
        ({"ipywidgets": "7.6"}, "ipywidgets", "7.6 is not >=7.7; pip install 'ipywidgets>=7.7'"),
        ({"anywidget": None}, "anywidget", "not installed; pip install 'anywidget>=0.9.18'"),
        (
            {"jupyterlab_widgets": "1.1.11", "ipywidgets": "8.1.5", "jupyterlab": "4.4"},
            "widget manager of jupyterlab 4.4",
            "jupyterlab_widgets 1.1.11 does not fit ipywidgets 8.1.5; "
            "pip install 'jupyterlab_widgets==3.*'",
        ),
        (
            {"widgetsnbextension": None, "notebook": "6.5.7"},
            "widget manager of notebook 6.5.7",
            "not installed; pip install widgetsnbextension",
        ),
    ],
)
def test_a_version_that_does_not_fit(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    versions: dict[str, Any],
    subject: str,
    text: str,
) -> None:
    for name in doctor._HOSTS:
        monkeypatch.delenv(name, raising=False)
    found = doctor._version
    monkeypatch.setattr(
        doctor, "_version", lambda name: versions[name] if name in versions else found(name)
    )
    code, lines = _report(capsys)
    assert code == 1
    assert lines[subject] == text


def test_a_closed_pipe_is_no_error() -> None:
    command = [sys.executable, "-m", "attnwidget", "doctor"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 128 + signal.SIGPIPE


def test_a_bundle_that_was_not_built(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(doctor, "_package", lambda: tmp_path)
    code, lines = _report(capsys)
    assert code == 1
    assert "widget.js is missing, so there are no widgets" in lines["bundle widget.js"]


def test_json_has_the_same_findings(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = _report(capsys)
    assert main(["doctor", "--json"]) == code
    said = json.loads(capsys.readouterr().out)
    assert {each["subject"]: each["text"] for each in said["findings"]} == lines
    wrong = sum(each["verdict"] == "wrong" for each in said["findings"])
    assert (said["wrong"], code) == (wrong, min(wrong, 1))


def test_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "--help"])
    assert "usage: attnwidget doctor" in capsys.readouterr().out
