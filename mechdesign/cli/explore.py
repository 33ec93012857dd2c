"""The command that serves the explorer, a page for design and verification, locally."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import mimetypes
import sys
import threading
import webbrowser
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mechdesign.cli.common import DATA, Command
from mechdesign.errors import InputError

LIBRARY = Path(__file__).parents[1]

PLACES = (LIBRARY / "explorer_page", LIBRARY.parent / "docs" / "explorer" / "dist")
"""Locations of the built page: in an installed package, and in a checkout."""

PARTS = ("design", "prove", "cone", "atlas", "collect")
"""The parts of the page, by their names in the URL."""

GIVEN = "/given.json"
"""The path at which the page reads the problem or channel of the command line."""

TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}
"""MIME types that some systems configure differently, so that browsers would not run the files."""

POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; frame-ancestors 'none'"
)
"""The content security policy: only scripts of the page, and no requests to other machines."""


def _explore(options: argparse.Namespace) -> None:
    page = page_folder()
    given = None if options.file is None else _given(Path(options.file))
    server = PageServer(page, given, options.port, options.part)
    print(f"explorer at {server.address}; Ctrl-C ends it", flush=True)
    if not options.no_browser:
        threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
    with server, contextlib.suppress(KeyboardInterrupt):  # Ctrl-C stops the server
        server.serve_forever()


def page_folder() -> Path:
    """Return the folder of the built page, or raise InputError with the build commands."""
    for place in PLACES:
        if (place / "index.html").is_file():
            return place
    hint = "a wheel has it"
    if (LIBRARY.parent / "docs" / "explorer").is_dir():
        build = "cd docs/explorer && npm ci && npm run build"
        hint = f"with Node from https://nodejs.org: {build}"
    raise InputError("explore", "the built page", "none", hint, "the explorer is not built")


def _given(file: Path) -> bytes:
    """Return the content of ``given.json``: a channel file, or the tables of a problem."""
    from mechdesign.files.problems import load_problem_on_labels
    from mechdesign.files.reading import read_document

    if file.suffix.lower() == ".json":
        return json.dumps(read_document(file)).encode()
    problem = load_problem_on_labels(file)
    return json.dumps({"title": problem.title, "problem": problem.to_table()}).encode()


class PageServer(ThreadingHTTPServer):
    """Serves the built page, and ``given.json``, at the loopback address."""

    daemon_threads = True

    def __init__(
        self, folder: Path, given: bytes | None = None, port: int = 0, part: str | None = None
    ) -> None:
        self.given = given
        try:
            super().__init__(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
        except (OSError, OverflowError) as error:
            raise InputError("--port", "a free port from 0 to 65535", port, str(error)) from None
        self.hosts = f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"
        query = "" if given is None else "?given"
        fragment = "" if part is None else f"#part={part}"
        self.address = f"http://{self.hosts[0]}/{query}{fragment}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore disconnects of the browser."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(SimpleHTTPRequestHandler):
    """Serves files of the page, only for requests whose Host header names this machine.

    This prevents DNS rebinding, by which a foreign page could read the problem.
    """

    server: PageServer

    def send_head(self) -> Any:
        """Send the headers of a response, and return its file, if any."""
        if self.headers.get("Host") not in self.server.hosts:
            self.send_error(HTTPStatus.FORBIDDEN)
            return None
        if self.path.partition("?")[0] != GIVEN or self.server.given is None:
            return super().send_head()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.server.given)))
        self.end_headers()
        return io.BytesIO(self.server.given)

    def list_directory(self, path: Any) -> None:
        """Reject requests for folders."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        """Add the headers that restrict the page."""
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def guess_type(self, path: Any) -> str:
        """Return the MIME type of a file, independent of the system configuration."""
        suffix = Path(path).suffix
        return TYPES.get(suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Do not log requests."""


COMMANDS = (
    Command(
        "explore",
        _explore,
        "design and prove in the browser: turn the budget and watch",
        f"""\
file [PROBLEM.toml|CHANNEL.json]
--part {{{",".join(PARTS)}}}  what to open; default: design, or prove for a channel
--port N = 0  default: any free one
--no-browser  print the address, and open nothing
{DATA}""",
        "Serves the explorer to this machine only, and opens it in the browser, with the problem "
        "or the channel given. Ctrl-C ends it.",
    ),
)
