"""The explorer command: the files that it serves, access control, and the error without a page."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from mechdesign.cli import explore
from mechdesign.cli.explore import PageServer, page_folder
from tests.cli_support import Run
from tests.refusals_support import check_refused

RARE_DISEASE = Path(__file__).resolve().parents[2] / "problems" / "lip" / "rare_disease.toml"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that mimics the built page."""
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / "index.html").write_text("<title>page</title>")
    (folder / "checker.mjs").write_text("export {}")
    (folder / "highs.wasm").write_bytes(b"\0asm")
    (tmp_path / "secret.txt").write_text("not for the page")
    monkeypatch.setattr(explore, "PLACES", (tmp_path / "nowhere", folder))
    return folder


@contextmanager
def serving(page: Path, given: bytes | None = None) -> Iterator[PageServer]:
    with PageServer(page, given) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def server(page: Path) -> Iterator[PageServer]:
    """Return a server of the page, with something given."""
    with serving(page, b'{"title": "t"}') as found:
        yield found


def asked(server: PageServer, path: str, host: str | None = None) -> http.client.HTTPResponse:
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port)) as connection:
        connection.request("GET", path, headers={"Host": host or server.hosts[0]})
        response = connection.getresponse()
        response.body = response.read()
        return response


def test_the_page_is_served_with_kinds_that_browsers_run(server: PageServer) -> None:
    found = asked(server, "/?given")
    assert (found.status, found.body) == (200, b"<title>page</title>")
    assert asked(server, "/checker.mjs").headers["Content-Type"] == "text/javascript"
    assert asked(server, "/highs.wasm").headers["Content-Type"] == "application/wasm"
    assert "default-src 'self'" in found.headers["Content-Security-Policy"]


def test_what_was_given_is_read_by_the_page_alone(server: PageServer) -> None:
    assert server.address.endswith("/?given")
    assert asked(server, "/given.json").body == b'{"title": "t"}'
    assert asked(server, "/given.json", host="evil.example").status == 403
    assert asked(server, "/", host="evil.example:80").status == 403


def test_the_address_names_the_part_that_opens(page: Path) -> None:
    with PageServer(page, b"{}", part="cone") as server:
        assert server.address.endswith("/?given#part=cone")
    with PageServer(page, part="atlas") as server:
        assert server.address.endswith(f":{server.server_port}/#part=atlas")


def test_the_parts_are_those_of_the_page() -> None:
    source = Path(__file__).resolve().parents[2] / "docs" / "explorer" / "src" / "state.ts"
    line = re.search(r"export const PARTS = \[(.*)\] as const", source.read_text())
    assert tuple(re.findall(r'"(\w+)"', line[1])) == explore.PARTS


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "//../secret.txt"])
def test_nothing_outside_the_page_is_served(server: PageServer, path: str) -> None:
    assert asked(server, path).status == 404


def test_nothing_is_given_where_nothing_was_named(page: Path) -> None:
    with serving(page) as server:
        assert asked(server, "/given.json").status == 404
        assert not server.address.endswith("given")


def test_a_problem_and_a_channel_are_given_as_the_page_reads_them(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Run
) -> None:
    given: list[bytes | None] = []

    class Ended(PageServer):
        def serve_forever(self, poll_interval: float = 0.5) -> None:
            given.append(self.given)
            raise KeyboardInterrupt

    monkeypatch.setattr(explore, "PageServer", Ended)
    channel = tmp_path / "channel.json"
    printed("solve", str(RARE_DISEASE), "-o", str(channel))
    for file in (RARE_DISEASE, channel):
        told = printed("explore", str(file), "--no-browser")
        assert told.count("explorer at http://127.0.0.1:") == 1
    problem, document = (json.loads(found or b"") for found in given)
    assert problem["title"] == "Survey of a rare disease"
    assert problem["problem"] == document["problem"]
    assert document == json.loads(channel.read_text())


def test_without_the_built_page_one_line_gives_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Run
) -> None:
    monkeypatch.setattr(explore, "PLACES", (tmp_path,))
    check_refused("npm run build", page_folder)
    assert "npm ci && npm run build" in refused("explore", "--no-browser")


def test_a_used_port_and_an_invalid_file_are_errors_of_one_line(
    server: PageServer, refused: Run
) -> None:
    for arguments in (["--port", str(server.server_port)], ["--port", "70000"], ["nowhere.toml"]):
        assert refused("explore", "--no-browser", *arguments)
