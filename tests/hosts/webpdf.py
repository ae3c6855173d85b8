"""nbconvert's webpdf with the Chromium of the tests, since it looks for Playwright's own one."""

import os
import sys
from typing import Any

from nbconvert.nbconvertapp import main
from playwright.async_api import Browser, BrowserType

_launch = BrowserType.launch


async def _launch_ours(self: BrowserType, **options: Any) -> Browser:
    return await _launch(self, executable_path=os.environ.get("ATTNWIDGET_BROWSER"), **options)


BrowserType.launch = _launch_ours  # type: ignore[method-assign]
# Time for a busy machine.
slow = "--WebPDFExporter.page_render_timeout=5000"
main(["--to", "webpdf", "--disable-chromium-sandbox", slow, *sys.argv[1:]])
