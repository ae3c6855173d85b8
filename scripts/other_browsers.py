"""Install Firefox and WebKit, which some tests drive, if Debian's apt is available.

Where it cannot, those tests are skipped, and this says so.
"""

import shutil

from scripts.browser import install_packages, say

# The required programs, by alternative names, and their packages.
NEEDED = {
    ("firefox-esr", "firefox"): "firefox-esr",
    ("WebKitWebDriver",): "webkit2gtk-driver",
    # The screen on which WebKit draws.
    ("Xvfb",): "xvfb",
}


def missing() -> list[str]:
    return [package for names, package in NEEDED.items() if not any(map(shutil.which, names))]


if __name__ == "__main__":
    if packages := missing():
        install_packages(*packages)
    if packages := missing():
        say(f"Not installed, so what needs them is not tested: {', '.join(packages)}")
