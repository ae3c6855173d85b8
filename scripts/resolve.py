"""python -m scripts.resolve: resolves the requirements among what hosted notebooks have installed.

Needs a package index, downloads no wheel, and installs nothing. torch is left out: what the hosts
have of it is on an index of its own.
"""

import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement

HOSTS = Path(__file__).parents[1] / "tests" / "release" / "constraints"


def main() -> None:
    asked = [Requirement(text) for text in requires("attnwidget") or ()]
    needed = [
        f"{each.name}{each.specifier}"
        for each in asked
        if each.name != "torch"
        and (each.marker is None or each.marker.evaluate({"extra": "figures"}))
    ]
    for file in sorted(HOSTS.glob("*.txt")):
        [python] = re.findall(r"Python (\d\.\d+)", file.read_text(encoding="utf-8"))
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        command += ["--quiet", "--target", "nowhere", "--only-binary=:all:"]
        command += ["--python-version", python, "--implementation", "cp"]
        for platform in ("manylinux_2_28_x86_64", "manylinux2014_x86_64"):
            command += ["--platform", platform]
        subprocess.run([*command, "--constraint", str(file), *needed], check=True)
        print(f"{file.stem}: what it has installed fits")


if __name__ == "__main__":
    main()
