"""Run a command beside two busy loops per core: python -m scripts.loaded COMMAND ..."""

import os
import subprocess
import sys

LOOPS_PER_CORE = 2


def main() -> int:
    busy = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(busy) for _ in range(LOOPS_PER_CORE * (os.cpu_count() or 1))]
    try:
        return subprocess.run(sys.argv[1:]).returncode
    finally:
        for loop in loops:
            loop.kill()


if __name__ == "__main__":
    sys.exit(main())
