"""Builds the front end into attnwidget/static, so that wheel and sdist carry it."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLES = ("widget.js", "start.js", "viewer.js", "page.js")


class FrontEndHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        static = root / "attnwidget" / "static"
        # Only an sdist has PKG-INFO; whoever installs from one needs no Node.
        from_sdist = (root / "PKG-INFO").exists()
        if from_sdist and all((static / bundle).exists() for bundle in BUNDLES):
            return

        npm = shutil.which("npm")
        if npm is None:
            sys.exit(
                "Building attnwidget from source needs npm, which was not found: "
                "install Node.js 20 or newer, or install a released wheel, which needs neither."
            )
        js = root / "js"
        # npm writes this file last, so a broken-off installation is not taken for a whole one.
        if not (js / "node_modules" / ".package-lock.json").exists():
            subprocess.run([npm, "ci"], cwd=js, check=True)
        subprocess.run([npm, "run", "build"], cwd=js, check=True)
