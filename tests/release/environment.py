"""The environment in which a release is installed."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, without torch, in which no Node is found."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(self, *command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run one of its programs; it sees nothing of this environment or the checkout."""
        program = self.folder / "bin" / command[0]
        return subprocess.run(
            [program, *command[1:]],
            cwd=cwd,
            env={"PATH": str(self.folder / "bin"), "HOME": str(cwd), "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
