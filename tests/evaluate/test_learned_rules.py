"""A network that learned with few rules is shown the nearest of them."""

import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from drawn_positions import played

from gtp_engine.base.errors import UserError
from gtp_engine.go.board import BOARD
from gtp_engine.go.coords import BLACK, WHITE, index_of_point, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS, Rules, parse_rules
from gtp_engine.nets.constants import PLANES, SCALARS
from gtp_engine.nets.library import learned_rules
from gtp_engine.search.evaluate import features
from gtp_engine.search.evaluate.learned_rules import ALL_RULES, code_of, nearest_rules, show_batch
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.evaluate.row import EvaluationRow

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"
SOME = [RULESETS["tromp-taylor"], RULESETS["chinese"]]
WORKSPACE = features.new_workspace()
EVERY = [
    Rules(ko, scoring, tax, suicide, has_button=button)
    for ko, scoring, tax, suicide, button in product(
        ("SIMPLE", "POSITIONAL", "SITUATIONAL"),
        ("AREA", "TERRITORY"),
        ("NONE", "SEKI", "ALL"),
        (False, True),
        (False, True),
    )
]


def test_every_ruleset_has_a_code() -> None:
    assert sorted(map(code_of, EVERY)) == ALL_RULES.tolist() == list(range(72))
    assert nearest_rules([]).tolist() == ALL_RULES.tolist()


@pytest.mark.parametrize(
    ("rules", "nearest"),
    [
        (RULESETS["tromp-taylor"], "tromp-taylor"),
        (RULESETS["chinese"], "chinese"),
        (RULESETS["japanese"], "chinese"),
        (RULESETS["stone-scoring"], "chinese"),
        (RULESETS["new-zealand"], "tromp-taylor"),
        (RULESETS["aga"], "tromp-taylor"),
        (RULESETS["aga-button"], "tromp-taylor"),
        (Rules(suicide=False), "tromp-taylor"),
        (Rules("SIMPLE"), "chinese"),
    ],
)
def test_the_nearest_rules(rules: Rules, nearest: str) -> None:
    assert nearest_rules(SOME)[code_of(rules)] == code_of(RULESETS[nearest])


def test_known_rules_are_shown_as_they_are() -> None:
    table = nearest_rules(EVERY[::5])
    for rules in EVERY[::5]:
        assert table[code_of(rules)] == code_of(rules)


def inputs(game: Game, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Planes and scalars of the position as a network with this table sees it."""
    position, shown = features.position_of(game, WORKSPACE), np.zeros(1, BOARD)
    show_batch(position, np.arange(1), table, shown)
    planes = np.zeros((game.height, game.width, PLANES), np.uint8)
    scalars = np.zeros(SCALARS, np.float32)
    features.write_inputs(shown[0], 0, False, WORKSPACE, planes, scalars)
    return planes, scalars


def test_with_all_rules_known_nothing_changes() -> None:
    for rules in EVERY:
        game = played("C3 G7 pass G3 E5 E6 F6 E4 D6", rules=rules)
        planes, scalars = np.zeros((9, 9, PLANES), np.uint8), np.zeros(SCALARS, np.float32)
        position = features.position_of(game, WORKSPACE)
        features.write_inputs(position[0], 0, False, WORKSPACE, planes, scalars)
        for one, other in zip(inputs(game, ALL_RULES), (planes, scalars), strict=True):
            assert np.array_equal(one, other), rules


def test_other_rules_look_like_the_nearest() -> None:
    table = nearest_rules(SOME)
    moves = "C3 G7 C7 G3 E5 E6 F6 E4"
    for name, nearest in (("new-zealand", "tromp-taylor"), ("stone-scoring", "chinese"), ("japanese", "chinese")):
        shown, wanted = (inputs(played(moves, rules=each), table) for each in (name, nearest))
        assert all(np.array_equal(one, other) for one, other in zip(shown, wanted, strict=True)), name


def test_territory_is_the_same_game_with_another_komi() -> None:
    """Under territory scoring a stone more that Black has played, dead or alive, is a point for White."""
    table = nearest_rules(SOME)
    japanese = played("A2 A1 B1 pass C3", rules="japanese")  # White's stone in the corner is taken
    assert (japanese.captures(BLACK), japanese.captures(WHITE)) == (1, 0)
    area = played("A2 A1 B1 pass C3", komi=japanese.komi + (3 - 0) - 1)
    for one, other in zip(inputs(japanese, table), inputs(area, table), strict=True):
        assert np.array_equal(one, other)


def test_a_button_that_is_taken_is_half_a_point() -> None:
    table = nearest_rules(SOME)
    button = played("E5 pass C3", rules=replace(RULESETS["tromp-taylor"], has_button=True))
    plain = played("E5 pass C3", rules="tromp-taylor", komi=button.komi + 0.5)
    assert button.board["button"][0] != 0
    for one, other in zip(inputs(button, table), inputs(plain, table), strict=True):
        assert np.array_equal(one, other)


@pytest.fixture(scope="module")
def bundled() -> NetworkEvaluator:
    """The bundled network that has learned with few rules."""
    path = Path(__file__).resolve().parents[2] / "weights" / "b4c32-9x9.bin.gz"
    assert learned_rules(path) == ("tromp-taylor", "chinese")
    return NetworkEvaluator(path, device="cpu", precision="float32")


@pytest.mark.parametrize("rules", ["japanese", "korean", "aga", "new-zealand", '{"suicide":false}'])
def test_the_bundled_network_judges_no_rules_wildly(bundled: NetworkEvaluator, rules: str) -> None:
    """Before it was shown rules that it knows, whoever was to move led by 5 to 20 points."""
    for moves in ("E5", "E5 D3", "E5 E3 E7", "E5 E3 E7 C5"):
        game = played(moves, rules=parse_rules(rules))
        outputs = bundled.evaluate(features.position_of(game, WORKSPACE))
        assert abs(outputs.lead) < 5, moves


@pytest.mark.parametrize("rules", [RULESETS["aga"], Rules(suicide=False)])
def test_a_move_that_other_rules_allow_gets_no_probability(bundled: NetworkEvaluator, rules: Rules) -> None:
    """Both look the same to the network, and the cache must not take one for the other."""
    policies = []
    for each in (RULESETS["tromp-taylor"], rules, RULESETS["tromp-taylor"]):
        game = Game(9, rules=each, komi=7)
        game.set_up("A1", "A2 B2 C1")
        rows = bundled.collect(bundled.submit(features.position_of(game, WORKSPACE), np.arange(1)))
        policies.append(EvaluationRow(rows[0], game.area).policy.copy())
        suicide = index_of_point(parse_vertex("B1", 9, 9), 9, 9)
        assert (policies[-1][suicide] > 0) == game.legal_moves()[suicide] == each.suicide
    assert np.array_equal(policies[0], policies[2])


def test_it_is_said_once(bundled: NetworkEvaluator, caplog: pytest.LogCaptureFixture) -> None:
    stone_scoring = RULESETS["stone-scoring"]
    for rules in (RULESETS["chinese"], stone_scoring, stone_scoring):
        bundled.evaluate(features.position_of(Game(9, rules=rules), WORKSPACE))
    name = bundled.name
    assert caplog.messages == [
        f"{name} learned with Tromp-Taylor and Chinese rules only: it evaluates this game as under Chinese rules"
    ]


@pytest.mark.parametrize("text", ["net = 3", 'net = "chinese"', "net = [1]", "net = [", "[net]\nrules = []"])
def test_a_bad_table_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "rules.toml").write_text(text)
    with pytest.raises(UserError, match=rf"{tmp_path / 'rules.toml'}: "):
        learned_rules(tmp_path / "net.bin.gz")


def test_an_unknown_ruleset_in_the_table_is_one_line(tmp_path: Path) -> None:
    network = Path(shutil.copy(TINY, tmp_path))
    (tmp_path / "rules.toml").write_text('tiny = ["chess"]')
    with pytest.raises(UserError, match=rf"^{tmp_path / 'rules.toml'}: tiny: .*'chess'"):
        NetworkEvaluator(network, precision="float32", device="cpu")


def test_a_network_without_an_entry_knows_all_rules(tmp_path: Path) -> None:
    assert learned_rules(tmp_path / "net.bin.gz") == ()
    (tmp_path / "rules.toml").write_text('other = ["chinese"]')
    assert learned_rules(tmp_path / "net.bin.gz") == ()
