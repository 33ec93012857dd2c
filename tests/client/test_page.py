"""The page that is a device, in Chromium: it draws, keeps its report, and sends nothing."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import mechdesign as md
from mechdesign.client import export_client

pytestmark = pytest.mark.slow


def test_a_device_answers_once_and_sends_nothing(tmp_path: Path, chromium: Any) -> None:
    tab = chromium.new_page()
    solution = md.design(md.Problem(range(8), md.LDP(2), md.MeanAbsoluteError()))
    md.save(solution, tmp_path / "file.json")
    export_client(md.load_mechanism(tmp_path / "file.json"), tmp_path, ["javascript"])
    asked: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((tmp_path / "device.html").as_uri())
    assert tab.locator("#answer option").all_inner_texts() == list(map(str, range(8)))
    reports = set()
    for answer in ("0", "7", "3") * 5:
        tab.select_option("#answer", answer)
        tab.click("text=Draw my report")
        reports.add(tab.inner_text("#report"))
    tab.reload()
    assert reports == {tab.inner_text("#report")}
    assert "the same" in tab.inner_text("#note")
    with tab.expect_download() as saved:
        tab.click("text=Save the report")
    (row,) = csv.DictReader(Path(saved.value.path()).read_text().splitlines())
    table = json.loads((tmp_path / "mechdesign_table.json").read_text())
    assert row == {"digest": table["digest"], "report": reports.pop()}
    assert {url.split(":")[0] for url in asked} <= {"file", "blob", "data"}
    assert errors == []
    refused = "fetch('https://example.org').then(() => 'sent', () => 'refused')"
    assert tab.evaluate(refused) == "refused"
