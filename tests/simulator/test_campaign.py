"""A long run of histories continues where its log ends."""

from __future__ import annotations

import json

from tests.simulator import campaign


def test_campaign_continues_a_log_that_was_cut(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(campaign, "PIECE", 3)
    log = tmp_path / "log"
    arguments = ["--histories", "8", "--workers", "1", "--log", str(log)]
    assert campaign.main(["--first", "20", *arguments]) == 0
    whole, printed = log.read_text(), capsys.readouterr().out
    assert [json.loads(line)["first"] for line in whole.splitlines()] == [20, 23, 26]
    assert "8 of 8 histories" in printed
    assert "writers: 8 histories" in printed

    log.write_text(whole[:-20])
    assert campaign.main(["--first", "20", *arguments]) == 0
    assert "2 of 2 histories" in capsys.readouterr().out
    assert _figures(log.read_text()) == _figures(whole)


def test_campaign_reports_a_violation_as_a_test(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(campaign, "violation_in", lambda history, _: "rows" if history.seed == 31 else None)
    monkeypatch.setattr(campaign, "report", lambda history: f"def test_history_{history.seed}")
    arguments = ["--first", "30", "--histories", "3", "--workers", "1", "--log", str(tmp_path / "log")]
    assert campaign.main(arguments) == 1
    printed = capsys.readouterr().out
    assert "def test_history_31" in printed
    assert "1 violations" in printed


def _figures(text):
    return [{**json.loads(line), "cpu_seconds": 0} for line in text.splitlines()]
