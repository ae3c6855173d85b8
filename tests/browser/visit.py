"""Pages that show hostile texts."""

from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Dialog, Page

from tests.hostile import TELL
from tests.support import Watch


class Visit:
    """Pages of one context, and everything that they did besides showing what is in them."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.context: BrowserContext = browser.new_context(viewport={"width": 1900, "height": 900})
        self.context.add_init_script(TELL)
        allowed = ("file:", "data:", "blob:")
        self.watch = Watch(self.context, lambda url: url.startswith(allowed))
        self._dialogs: list[str] = []
        self.context.on("dialog", self._on_dialog)
        self.page = self.context.new_page()
        self._folder = folder

    @property
    def events(self) -> list[str]:
        # One more turn, for pending events.
        self.page.wait_for_timeout(50)
        return self._dialogs + self.watch.problems()

    def open(self, content: str, name: str = "page.html") -> Page:
        path = self._folder / name
        path.write_text(content, encoding="utf-8", errors="replace")
        self.page.goto(path.as_uri())
        return self.page

    def _on_dialog(self, dialog: Dialog) -> None:
        self._dialogs.append(f"dialog: {dialog.message}")
        dialog.dismiss()
