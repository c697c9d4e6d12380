"""SARIF and the page of a finding: what stands there, and what can never get in."""

import html
import json
from pathlib import Path
from typing import Any

from memgraft.hunt import page
from memgraft.hunt.finding import Phase, Verdict
from memgraft.hunt.sarif import sarif
from memgraft.hunt.tests.findings import SOURCE, found
from memgraft.hunt.trials import Kind, Launched, Setting

HOSTILE = "</script><script>alert(1)</script>&\"'<img src=x onerror=alert(2)>"


def result_of(log: dict[str, Any]) -> Any:
    [run] = log["runs"]
    assert json.loads(json.dumps(log)) == log
    [result] = run["results"]
    assert result["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    return result


def test_the_result_is_where_the_field_is_declared(tmp_path: Path) -> None:
    result = result_of(sarif(found(tmp_path), [tmp_path / "src"], tmp_path))
    assert result["ruleId"] == "missing-volatile"
    [location] = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "src/org/example/Server.java", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 4},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "org.example.Server.stopped"
    assert [one["message"]["text"] for one in result["relatedLocations"]] == [
        "stored by thread main",
        "loaded by thread worker",
    ]
    [flow] = result["codeFlows"]
    assert [thread["id"] for thread in flow["threadFlows"]] == ["main", "worker"]


def test_the_fix_is_an_insertion(tmp_path: Path) -> None:
    [fix] = result_of(sarif(found(tmp_path), [tmp_path / "src"], tmp_path))["fixes"]
    [change] = fix["artifactChanges"]
    [replacement] = change["replacements"]
    assert replacement["insertedContent"] == {"text": "volatile "}
    region = replacement["deletedRegion"]
    assert region == {"startLine": 4, "startColumn": region["startColumn"], "endColumn": region["startColumn"]}
    # The face is two units of UTF-16.
    line = SOURCE.splitlines()[3].encode("utf-16-le")
    assert line[2 * (region["startColumn"] - 1) :].decode("utf-16-le") == "boolean stopped;"


def test_without_sources_there_is_a_name(tmp_path: Path) -> None:
    finding = found(tmp_path)
    finding.declared = {}
    result = result_of(sarif(finding, [], tmp_path))
    assert result["locations"] == [
        {"logicalLocations": [{"fullyQualifiedName": "org.example.Server.stopped", "kind": "member"}]}
    ]
    assert not {"relatedLocations", "codeFlows", "fixes"} & result.keys()


def test_without_its_declaration_it_is_where_it_is_stored(tmp_path: Path) -> None:
    finding = found(tmp_path, name="org.example.Server.run[]")
    finding.declared = {}
    result = result_of(sarif(finding, [tmp_path / "src"], tmp_path / "elsewhere"))
    assert result["ruleId"] == "missing-order"
    [location] = result["locations"]
    file = tmp_path / "src/org/example/Server.java"
    assert location["physicalLocation"] == {"artifactLocation": {"uri": file.as_uri()}, "region": {"startLine": 4}}


def test_another_verdict_is_a_note_and_no_result(tmp_path: Path) -> None:
    finding = found(tmp_path)
    finding.verdict = Verdict.NOT_ORDER
    [run] = sarif(finding, [], tmp_path)["runs"]
    assert run["results"] == []
    [note] = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("This is not a missing volatile")


def test_the_page_shows_every_launch(tmp_path: Path) -> None:
    text = page.render(found(tmp_path))
    # And once each in the key.
    assert text.count('class="failed-mark"') == text.count('class="passed-mark"') == 11
    assert "exit code 1, 1.50 s" in text
    assert "in order: org.example.Server.stopped" in text
    assert "What fits what was seen: a loop that looks once" in text


def test_nothing_that_was_measured_gets_into_the_page_as_it_is(tmp_path: Path) -> None:
    finding = found(tmp_path, thread=HOSTILE)
    finding.command = ["java", HOSTILE]
    finding.notes.append(HOSTILE)
    finding.patch = f"+{HOSTILE}"
    finding.phases[0].launched[0] = Launched(Setting(Kind.STOCK), f"printed '{HOSTILE}'", 1.0)
    text = page.render(finding)
    assert "<script" not in text
    assert "<img" not in text
    assert html.escape("<img src=x onerror=alert(2)>") in text
    assert "default-src 'none'" in text


def test_many_names_are_counted_and_kept(tmp_path: Path) -> None:
    finding = found(tmp_path)
    finding.suspects = frozenset(f"a.A.f{number}" for number in range(10))
    few = finding.suspects - {"a.A.f3"}
    some = frozenset(sorted(finding.suspects)[:5])
    assert page.label(Setting(Kind.ORDERED, few), finding) == "in order: all but a.A.f3"
    assert page.label(Setting(Kind.WEAK, some), finding) == "weak memory, in order: 5 suspects"
    assert page.label(Setting(Kind.DELAYED, some), finding) == "only as slow: 5 suspects"
    assert page.label(Setting(Kind.ORDERED), finding) == "in order: nothing"
    finding.phases = [Phase("the smallest set", 1.0, [Launched(Setting(Kind.ORDERED, few), "", 1.0)])]
    assert "a.A.f7<br>" in page.render(finding)
