"""Rulesets by name, by parts and as KataGo's JSON."""

import itertools
import json
from dataclasses import replace

import pytest

from gtp_engine.base.languages.texts import LANGUAGES, texts
from gtp_engine.go.rules import RULESETS, Rules, parse_rules, rules_name, rules_phrase, terms_text, with_part


@pytest.mark.parametrize(
    ("name", "ko", "scoring", "tax", "suicide", "button", "bonus", "friendly"),
    [
        ("tromp-taylor", "POSITIONAL", "AREA", "NONE", True, False, "0", False),
        ("chinese", "SIMPLE", "AREA", "NONE", False, False, "N", True),
        ("chinese-ogs", "POSITIONAL", "AREA", "NONE", False, False, "N", True),
        ("chinese-kgs", "POSITIONAL", "AREA", "NONE", False, False, "N", True),
        ("japanese", "SIMPLE", "TERRITORY", "SEKI", False, False, "0", False),
        ("korean", "SIMPLE", "TERRITORY", "SEKI", False, False, "0", False),
        ("aga", "SITUATIONAL", "AREA", "NONE", False, False, "N-1", True),
        ("bga", "SITUATIONAL", "AREA", "NONE", False, False, "N-1", True),
        ("aga-button", "SITUATIONAL", "AREA", "NONE", False, True, "N-1", True),
        ("new-zealand", "SITUATIONAL", "AREA", "NONE", True, False, "0", True),
        ("stone-scoring", "SIMPLE", "AREA", "ALL", False, False, "0", True),
        ("ancient-territory", "SIMPLE", "TERRITORY", "ALL", False, False, "0", False),
        ("ing", "POSITIONAL", "AREA", "NONE", True, False, "0", True),
    ],
)
def test_each_ruleset_has_katagos_parts(
    name: str, ko: str, scoring: str, tax: str, suicide: bool, button: bool, bonus: str, friendly: bool
) -> None:
    assert parse_rules(name) == Rules(ko, scoring, tax, suicide, button, bonus, friendly)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("Chinese", "chinese"),
        (" JAPANESE ", "japanese"),
        ("new_zealand", "new-zealand"),
        ("New Zealand", "new-zealand"),
        ("NZ", "new-zealand"),
        ("GOE", "ing"),
        ("TrompTaylor", "tromp-taylor"),
        ("tromp_taylor", "tromp-taylor"),
        ("Chinese-OGS", "chinese-ogs"),
        ("ancient-area", "stone-scoring"),
        ("Ancient Territory", "ancient-territory"),
        ("French", "aga"),
    ],
)
def test_names_are_read_in_every_usual_spelling(spelling: str, name: str) -> None:
    assert parse_rules(spelling) == RULESETS[name]


def test_json_is_katagos() -> None:
    assert RULESETS["chinese"].to_json() == (
        '{"friendlyPassOk":true,"hasButton":false,"ko":"SIMPLE","scoring":"AREA","suicide":false,"tax":"NONE",'
        '"whiteHandicapBonus":"N"}'
    )


@pytest.mark.parametrize("name", RULESETS)
def test_json_is_read_back(name: str) -> None:
    assert parse_rules(RULESETS[name].to_json()) == RULESETS[name]
    assert parse_rules(json.dumps(json.loads(RULESETS[name].to_json()), indent=1)) == RULESETS[name]


def test_missing_json_parts_are_tromp_taylors() -> None:
    assert parse_rules('{"ko":"simple"}') == replace(RULESETS["tromp-taylor"], ko="SIMPLE")
    assert parse_rules('{"scoring":"TERRITORY"}').tax == "SEKI"
    assert parse_rules('{"score":"TERRITORY","tax":"NONE"}').tax == "NONE"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("martian", "unknown rules: 'martian' .*tromp-taylor.*japanese"),
        ("", "unknown rules: ''"),
        ("{", "not valid JSON"),
        ('{"ko":"SPIGHT"}', "unknown ko rule: 'SPIGHT' .*'SIMPLE', 'POSITIONAL', 'SITUATIONAL'"),
        ('{"ko":3}', "unknown ko rule: 3"),
        ('{"ko":["SIMPLE"]}', "unknown ko rule"),
        ('{"komi":7.5}', "unknown part of the rules: 'komi' .*hasButton"),
        ('{"suicide":"perhaps"}', "unknown value of suicide: 'perhaps'"),
        ('{"a":' * 100_000, "not valid JSON"),
    ],
)
def test_unknown_rules_are_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_rules(text)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("ko", "simple", {"ko": "SIMPLE"}),
        ("scoring", "territory", {"scoring": "TERRITORY"}),
        ("suicide", "false", {"suicide": False}),
        ("suicide", "off", {"suicide": False}),
        ("hasButton", "on", {"has_button": True}),
        ("hasButton", "TRUE", {"has_button": True}),
        ("whiteHandicapBonus", "n-1", {"white_handicap_bonus": "N-1"}),
        ("friendlyPassOk", True, {"friendly_pass_ok": True}),
    ],
)
def test_one_part_is_set(key: str, value: str | bool, expected: dict[str, str]) -> None:
    rules = RULESETS["tromp-taylor"]
    assert with_part(rules, key, value) == replace(rules, **expected)  # type: ignore[arg-type]


def test_names_of_rules() -> None:
    assert rules_name(RULESETS["korean"]) == "japanese"
    assert rules_name(RULESETS["chinese-kgs"]) == "chinese-ogs"
    assert rules_name(replace(RULESETS["chinese"], tax="SEKI")) is None


def test_which_rules_count_stones_as_they_stand() -> None:
    assert RULESETS["tromp-taylor"].stones_stand
    assert not any(RULESETS[name].stones_stand for name in ("chinese", "japanese", "aga", "new-zealand"))


def test_people_read_the_same_names_everywhere() -> None:
    assert terms_text(RULESETS["chinese"], 7.5) == "Chinese rules, komi 7.5"
    assert terms_text("tromp-taylor", 7) == "Tromp-Taylor rules, komi 7"
    assert terms_text("korean", 6.5) == terms_text("japanese", 6.5) == "Japanese rules, komi 6.5"
    assert terms_text(Rules("SIMPLE"), 0) == "other rules, komi 0"
    assert rules_phrase('{"ko":"SIMPLE"}') == '{"ko":"SIMPLE"}', "parts of rules stay as they are"
    for name, language in itertools.product(RULESETS, LANGUAGES):
        assert texts(language).say(rules_phrase(name)) not in ("", name)
