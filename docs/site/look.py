"""Pictures of pages of the built site, for looking at: `make docs-look`; skipped where there is no Chromium."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

PAGES = "index", "quickstart", "vocabulary", "structure", "benchmarks", "examples/lstm", "api/hilbert.space.space"


def main(names: list[str]) -> None:
    """Write `build/look/PAGE.png` for each page."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("no Chromium on the path: nothing to look at")
        return
    to = Path("build/look")
    to.mkdir(parents=True, exist_ok=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory="build/site")) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        for name in names or PAGES:
            file = to / f"{name.replace('/', '.')}.png"
            url = f"http://127.0.0.1:{server.server_port}/{name}.html"
            options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,2000"]
            subprocess.run(
                [browser, *options, f"--screenshot={file}", url], check=True, capture_output=True, timeout=120
            )
            print(file)
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    main(sys.argv[1:])
