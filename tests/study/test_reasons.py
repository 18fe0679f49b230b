"""Why a move is a mistake: what is said on drawn positions, and what is not said where it does not hold."""

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
from drawn_positions import drawn
from reviews import D4, E5, F6, G7, game_of, loss, reason, report

from gtp_engine.base.languages.texts import DEFAULT, LANGUAGES, Phrase, texts
from gtp_engine.go.board import Board
from gtp_engine.go.coords import BLACK, EMPTY, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.ladders import find_ladders
from gtp_engine.search.evaluate.rollouts.evaluator import RolloutEvaluator
from gtp_engine.search.evaluate.uniform import UniformEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import Limits
from gtp_engine.study.reasons.explain import Explainer, choose, find_facts, reason_of, worth_explaining
from gtp_engine.study.reasons.facts import (
    AtariMissed,
    Captured,
    Connected,
    Doubtful,
    Fact,
    Filled,
    FilledKind,
    GroupChanged,
    Ladder,
    LadderKind,
    PassedTooEarly,
    RegionChanged,
    Sente,
    find_captures,
    find_connections,
    find_early_pass,
    find_filled,
    find_groups,
    find_missed_atari,
    find_regions_changed,
    find_sente,
)
from gtp_engine.study.reasons.ladders import find_ladder_facts
from gtp_engine.study.reasons.variation import Study, Variation, play_line, searched_line
from gtp_engine.study.review_data import to_json
from gtp_engine.study.review_sgf import annotated

Marks = dict[str, int]


def variation(
    game: Game,
    line: Iterable[str | int],
    owned: dict[str, float] | None = None,
    *,
    rest: float = 0.0,
    lead: float = 0.0,
    winrate: float = 0.5,
    gain: float | None = None,
) -> Variation:
    """A line of vertices or points; `owned` has the ownership of vertices in a text, `rest` that of all others."""
    points = tuple(game.point(vertex) for vertex in line)
    games = play_line(game, game.to_move, points)
    assert len(games) == len(points) + 1
    ownership = np.full((game.height, game.width), rest, np.float32)
    for vertices, value in (owned or {}).items():
        for vertex in vertices.split():
            point = game.point(vertex)
            ownership[point // (game.width + 1) - 1, point % (game.width + 1) - 1] = value
    return Variation(points, games, ownership, lead, winrate, gain)


def study(played: Variation, better: Variation) -> Study:
    return Study(played.games[0].to_move, played, better)


def said(study: Study) -> list[str]:
    return [reason_of(study, fact).text for fact in choose(find_facts(study))]


CORNER = """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    O O O . . . .
    X X O . . . .
    . X O . . . .
    . . . . . . ."""


def test_a_group_that_dies() -> None:
    game, _ = drawn(CORNER)
    stones = "A3 B3 B2"
    better = variation(game, ["B1"], {stones: 0.9})
    about = study(variation(game, ["E4", "B1", "pass"], {stones: -0.9}), better)
    (fact,) = find_groups(about)
    assert (fact.points, fact.colour) == ({game.point(name) for name in stones.split()}, BLACK)
    assert (fact.better, fact.played) == (pytest.approx(0.95), pytest.approx(0.05))
    assert fact.line == about.played.line
    assert reason_of(about, fact).text == (
        "Black's 3 stones at B3 live after B1 (95% of their points stay Black's), and die after E4 (5%)."
    )
    half = study(variation(game, ["E4"], {stones: 0.0}), better)
    assert "safer after B1 (95%" in said(half)[0]
    assert not [*find_groups(study(variation(game, ["E4"], {stones: 0.5}), better))]
    assert not [*find_groups(study(variation(game, ["E4"], {stones: 1.0}), better))]


def test_an_opponents_group_that_lives_and_chains_near_each_other() -> None:
    game, _ = drawn(CORNER, WHITE)
    better = variation(game, ["B1"], {"A3 B3 B2": 0.9})
    about = study(variation(game, ["E4"], {"A3 B3 B2": -0.9}), better)
    assert said(about)[0].startswith("Black's 3 stones at B3 die after B1 (5% of their points stay Black's), and live")
    assert [fact.line for fact in find_groups(about)] == [better.line]
    apart, _ = drawn("""
        . . . . . . .
        X . X . . . X
        . . . . . . X
        . . . . . . .""")
    both = study(variation(apart, ["D1"], rest=-0.9), variation(apart, ["E1"], rest=0.9))
    assert sorted(len(fact.points) for fact in find_groups(both)) == [2, 2]
    lone = study(variation(apart, ["D1"], {"A3": -0.9}), variation(apart, ["E1"], {"A3": 0.9}))
    assert not [*find_groups(lone)]


CAPTURE = """
    . . . . . .
    . X X . . .
    X O O a . .
    . X X . . .
    . . . . . .
    b . . . . ."""


def test_stones_that_only_one_line_captures() -> None:
    game, at = drawn(CAPTURE)
    white = "B4 C4"
    takes = variation(game, ["D4"], {white: 1.0})
    leaves = variation(game, ["F1", "D4", "E4"], {white: -1.0})
    (fact,) = find_captures(study(leaves, takes))
    assert (fact.captor, fact.number, fact.is_played, fact.line) == (BLACK, 1, False, (at["a"],))
    assert "captures White's 2 stones at" in reason_of(study(leaves, takes), fact).text
    also = variation(game, ["F1", "F2", "D4"], {white: -1.0})
    assert not [*find_captures(study(also, takes))]
    assert not [*find_captures(study(variation(game, ["F1"], {white: 1.0}), takes))]  # they are dead anyhow
    with_white, _ = drawn(CAPTURE.replace("X", "T").replace("O", "X").replace("T", "O"), BLACK)
    saved = variation(with_white, ["D4"], {white: 1.0})
    (lost,) = find_captures(study(variation(with_white, ["F1", "D4", "E4"], {white: -1.0}), saved))
    assert (lost.captor, lost.number, lost.is_played) == (WHITE, 2, True)


def test_an_atari_missed() -> None:
    game, _ = drawn(CAPTURE, WHITE)
    saved = variation(game, ["D4"], {"B4 C4": 1.0})
    about = study(variation(game, ["F1", "D4"], {"B4 C4": -1.0}), saved)
    assert len([*find_missed_atari(about)]) == 1
    assert said(about)[0] == "Atari: D4 saves White's 2 stones at B4; after F1, Black captures at once."
    later = study(variation(game, ["F1", "E1", "E6", "D4"], {"B4 C4": -1.0}), saved)
    assert not [*find_missed_atari(later)]
    given_up = study(variation(game, ["F1", "D4"], {"B4 C4": -1.0}), variation(game, ["E1"], {"B4 C4": 1.0}))
    assert not [*find_missed_atari(given_up)]


def ladders(about: Study) -> list[LadderKind]:
    return [fact.kind for fact in find_ladder_facts(about)]


DIAGONAL = """
    . . . . . . .
    . X X . . . .
    . X O a . . .
    . . b X . . .
    . c . . . . .
    . . . . . . .
    . . . . . . ."""


def test_a_ladder_that_catches() -> None:
    game, _ = drawn(DIAGONAL)
    fails = variation(game, ["G1"], {"C5": -0.9})
    about = study(fails, variation(game, ["D5"], {"C5": 0.9}))
    (fact,) = find_ladder_facts(about)
    assert fact.kind == LadderKind.CATCHES
    end = play_line(game, BLACK, fact.line)
    assert len(end) == len(fact.line) + 1 and end[-1].stone_at("C5") == 0  # the line ends with the capture
    assert reason_of(about, fact).text == "D5 catches White's stone at C5 in a ladder."
    assert not ladders(study(fails, variation(game, ["E2"], {"C5": 0.9})))
    assert not ladders(study(fails, variation(game, ["D5"], {"C5": -0.9})))  # the search disagrees


def test_a_ladder_that_the_opponent_gets() -> None:
    game, _ = drawn(DIAGONAL.replace("X", "T").replace("O", "X").replace("T", "O"))
    lets = variation(game, ["G1", "D5"], {"C5": -0.9})
    helps = variation(game, ["D5"], {"C5": 0.9})
    about = study(lets, helps)
    (fact,) = [fact for fact in find_ladder_facts(about) if fact.kind == LadderKind.CAUGHT]
    assert fact.line[:2] == lets.line and play_line(game, BLACK, fact.line)[-1].stone_at("C5") == 0
    assert not ladders(study(variation(game, ["G1", "G2"], {"C5": -0.9}), helps))
    assert not ladders(study(lets, variation(game, ["D5"], {"C5": -0.9})))  # it is lost anyhow


def test_a_ladder_that_fails() -> None:
    game, _ = drawn(DIAGONAL.replace("c", "O"))
    better = variation(game, ["G7"], {"C5": -0.9})
    about = study(variation(game, ["D5", "C4", "C3"], {"C5 C4": -0.9}), better)
    assert ladders(about) == [LadderKind.ESCAPES]
    works, _ = drawn(DIAGONAL)
    assert not ladders(
        study(variation(works, ["D5", "C4", "C3"], {"C5 C4": -0.9}), variation(works, ["G7"], {"C5": -0.9}))
    )


def test_stones_that_run_into_a_ladder() -> None:
    game, _ = drawn(DIAGONAL.replace("a", "X"), WHITE)
    better = variation(game, ["G1"])
    (fact,) = find_ladder_facts(study(variation(game, ["C4"], {"C5 C4": -0.9}), better))
    assert fact.kind == LadderKind.RUNS and play_line(game, WHITE, fact.line)[-1].stone_at("C5") == 0
    assert not ladders(study(variation(game, ["C4"], {"C5 C4": 0.9}), better))
    assert not ladders(study(variation(game, ["G1"], {"C5 C4": -0.9}), variation(game, ["C4"])))


def test_threads_that_read_ladders_at_once_share_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    game, _ = drawn(DIAGONAL)
    about = study(variation(game, ["G1"], {"C5": -0.9}), variation(game, ["D5"], {"C5": 0.9}))
    both, used = Barrier(2), []

    def meet(board: Board, workspace: np.ndarray, caught: np.ndarray, working: np.ndarray) -> None:
        both.wait(60)
        used.append(workspace)
        find_ladders(board, workspace, caught, working)

    monkeypatch.setattr("gtp_engine.study.reasons.ladders.find_ladders", meet)
    with ThreadPoolExecutor(2) as threads:
        found = [*threads.map(ladders, (about, about))]
    assert found == [[LadderKind.CATCHES]] * 2
    assert used and not any(np.shares_memory(*pair) for pair in zip(used[::2], used[1::2], strict=True))


CUT = """
    . . . . . .
    . X X . X X
    . O O . O O
    . . . . . .
    . . . . . ."""


def test_a_cut() -> None:
    game, _ = drawn(CUT)
    connects, cut = variation(game, ["D4"], rest=0.2), variation(game, ["A1", "D4"])
    about = study(cut, connects)
    assert [(fact.colour, fact.line) for fact in find_connections(about)] == [(BLACK, cut.line)]
    assert not [*find_connections(study(cut, variation(game, ["D4"], rest=0.1)))]  # it matters to nobody
    assert said(about)[0].startswith("D4 keeps Black's 2 stones at")
    assert not [*find_connections(study(variation(game, ["A1", "D3"]), connects))]  # nobody cuts
    assert not [*find_connections(study(cut, variation(game, ["B1"])))]  # nobody connects


def test_a_connection_of_the_opponent() -> None:
    game, _ = drawn(CUT)
    cuts, lets = variation(game, ["D3"], rest=0.2), variation(game, ["A1", "D3"])
    about = study(lets, cuts)
    assert [(fact.colour, fact.line) for fact in find_connections(about)] == [(WHITE, cuts.line)]
    assert "cuts White's 2 stones at" in said(about)[0]


@pytest.mark.parametrize(
    ("owned", "filled", "around", "kind"),
    [
        (0.99, 0.99, 0.99, "OWN"),
        (-0.99, -0.99, -0.99, "OTHERS"),  # the stone played is dead
        (0.0, 1.0, 0.95, "DAME"),  # the stone played lives
        (0.5, 1.0, 0.9, ""),
        (0.0, 1.0, 0.5, ""),
    ],
)
def test_moves_at_settled_points(owned: float, filled: float, around: float, kind: str) -> None:
    """`owned` and `filled`: the owner of the point after the better move, and after the move at it."""
    game, _ = drawn(CUT)
    near = {"C2 E2 D1 D3": around}
    better = variation(game, ["D4"], {"D2": owned, **near})
    about = study(variation(game, ["D2"], {"D2": filled, **near}), better)
    assert [fact.kind for fact in find_filled(about)] == ([FilledKind[kind]] if kind else [])
    changed = study(variation(game, ["D2"], {"D2": filled}, rest=-0.95 if around > 0 else 0.95), better)
    assert not [*find_filled(changed)], "the move decides who owns the neighbours"


def test_a_pass_too_early() -> None:
    game, _ = drawn(CUT)
    early = study(variation(game, ["pass"], lead=-4.0), variation(game, ["D4"], lead=3.0))
    assert said(early)[0] == "It is too early to pass: D4 is worth 7 points."
    assert not [*find_early_pass(study(variation(game, ["pass"], lead=2.5), early.better))]
    assert not [*find_early_pass(study(variation(game, ["A1"], lead=-4.0), early.better))]


def test_a_pass_is_told_as_a_word() -> None:
    game, _ = drawn(CORNER)
    better = variation(game, ["B1"], {"A3 B3 B2": 0.9})
    (fact,) = find_groups(study(variation(game, ["pass"], {"A3 B3 B2": -0.9}), better))
    assert reason_of(study(variation(game, ["pass"]), better), fact).text.endswith("and die after a pass (5%).")
    caught = Ladder((), frozenset((game.point("A3"),)), LadderKind.CAUGHT, BLACK)
    text = reason_of(study(variation(game, ["pass"]), better), caught).text
    assert text == "A pass lets White catch Black's stone at A3 in a ladder."


def test_where_the_points_lie() -> None:
    game, _ = drawn("\n".join([". " * 13] * 13))
    corner = "A1 B1 C1 A2 B2 C2"
    gains = variation(game, ["C3"], {corner: 0.8}, lead=6.0)
    near = study(variation(game, ["D2"], {corner: -0.2}), gains)
    (fact,) = find_regions_changed(near)
    assert (fact.gain, fact.side, fact.is_elsewhere) == (pytest.approx(6), (2, 0), False)
    assert said(near) == ["The points lie in the lower left corner: Black has 6 more there after C3 than after D2."]
    far = study(variation(game, ["N13"], {corner: -0.2}), gains)
    assert said(far) == [
        "There are bigger points elsewhere: C3 is worth 6 points more in the lower left corner.",
    ]
    neither = study(variation(game, ["N13"], {corner: -0.2}), variation(game, ["N12"], {corner: 0.8}))
    assert not [*find_regions_changed(neither)]
    assert not [*find_regions_changed(study(variation(game, ["D2"], {corner: 0.6}), gains))]  # too few points
    much = replace(gains, lead=20.0)
    assert not [*find_regions_changed(study(variation(game, ["D2"], {corner: -0.2}), much))]  # of a greater loss


def test_sente() -> None:
    game, _ = drawn(CUT)
    about = study(variation(game, ["A1"], gain=4.0), variation(game, ["D4"], gain=15.0))
    about = replace(about, better=replace(about.better, threat=(game.point("D3"),)))
    (fact,) = find_sente(about)
    assert fact.line == (game.point("D4"), 0, game.point("D3"))
    assert [reason_of(about, fact).text] == [
        "D4 is sente: if White does not answer, Black gains 15 points more; after A1 only 4."
    ]
    for better, played in ((15.0, 10.0), (8.0, 4.0), (None, 4.0), (15.0, None)):
        assert not [*find_sente(study(variation(game, ["A1"], gain=played), variation(game, ["D4"], gain=better)))]


def every_fact() -> list[Fact]:
    """Facts of all kinds, which have every sentence, for Black."""
    one, two, five = (frozenset(range(11, 11 + count)) for count in (1, 2, 5))
    line = (11,)
    return [
        PassedTooEarly(line, one, 7.0),
        AtariMissed(line, two),
        *(Ladder(line, five, kind, 3 - number % 2) for number, kind in enumerate(LadderKind)),
        *(Connected(line, five, colour, one, two) for colour in (BLACK, WHITE)),
        *(Filled(line, one, kind) for kind in FilledKind),
        *(
            GroupChanged(line, five, colour, *shares)
            for colour in (BLACK, WHITE)
            for shares in ((0.9, 0.4), (0.4, 0.9))
        ),
        GroupChanged(line, five, BLACK, 0.95, 0.05),
        GroupChanged(line, five, WHITE, 0.05, 0.95),
        *(Captured(line, two, captor, 1, captor == WHITE) for captor in (BLACK, WHITE)),
        *(
            RegionChanged(line, five, 6.0, (row, column), far)
            for row in range(3)
            for column in range(3)
            for far in (False, True)
        ),
        Sente(line, one, 15.0, 4.0),
        Doubtful(line, one, 2.0, "points"),
        Doubtful(line, one, 0.2, "points"),
        Doubtful(line, one, 0.2, "winrate"),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_can_be_said_in_every_language(language: str) -> None:
    game, _ = drawn(CUT)
    about = study(variation(game, ["A1"]), variation(game, ["D4"]))
    found = [reason_of(about, fact) for fact in every_fact()]
    values = (value for each in found for value in each.sentence.values.values())
    used = {each.sentence.name for each in found} | {value.name for value in values if isinstance(value, Phrase)}
    assert {name for name in texts().names if name.startswith("reason.")} == used - {"black", "white"} | {"reason.pass"}
    for each in found:
        text = each.text_in(language)
        assert not re.search(r"[{}]|None|Phrase", text)
        assert re.search(r"D[45]|A1", text), "a sentence names a point"
        assert re.search(r"[.。]$", text)
        assert (text == each.text) == (language == DEFAULT), "nothing is left in English"


def test_at_most_three_reasons_and_no_stone_twice() -> None:
    def group(*points: int) -> GroupChanged:
        return GroupChanged((1,), frozenset(points), BLACK, 1.0, 0.0)

    assert choose([group(1, 2), group(2), group(3), group(4, 5), group(6)]) == [group(1, 2), group(3), group(4, 5)]


def test_searches_of_both_players_moves_see_the_same_facts() -> None:
    """The better move captures, by rollouts: ownership and leads are those of the player, Black or White."""
    found = []
    for diagram, colour in ((CAPTURE, BLACK), (CAPTURE.replace("X", "T").replace("O", "X").replace("T", "O"), WHITE)):
        game, at = drawn(diagram, colour)
        explainer = Explainer(RolloutEvaluator(threads=1, seed=1), SearchParameters(), Limits(visits=400), 1)
        about = explainer.study(game, colour, at["b"], at["a"])
        assert about is not None and about.points_loss > 2 and 0 < about.winrate_loss <= 1
        assert about.better.owned(frozenset((game.point("B4"),))) > 0.5
        found.append(explainer.with_threats(about).better.gain_if_ignored)
    assert None not in found


def test_a_line_ends_where_it_has_hardly_been_searched() -> None:
    after = report(WHITE, E5, 0.5, 0.0)
    assert searched_line(after) == (E5, F6)
    thin = after.moves[0]._replace(pv=(E5, F6, G7, D4), pv_visits=(10, 4, 3, 1))
    assert searched_line(replace(after, moves=(thin,))) == (E5, F6)
    assert searched_line(replace(after, moves=())) == ()


def test_a_stopped_search_and_an_illegal_move_explain_nothing() -> None:
    game, at = drawn(CAPTURE)
    search = (UniformEvaluator(8), SearchParameters(), Limits(visits=8), 1)
    assert Explainer(*search, is_stopped=lambda: True).study(game, BLACK, at["b"], at["a"]) is None
    assert Explainer(*search).study(game, BLACK, game.point("B5"), at["a"]) is None
    after = Explainer(*search).study(game, BLACK, 0, at["a"])
    assert after is not None and after.played.line[0] == 0
    assert Explainer(*search).with_threats(after).better.gain_if_ignored is None


def test_a_move_of_the_record_that_superko_forbids_is_studied_too() -> None:
    game = Game(5, rules="tromp-taylor", komi=0)
    for colour, vertex in zip("bwbwbwb", ("A2", "pass", "B2", "pass", "C1", "A1", "pass"), strict=True):
        game.play(colour, vertex)
    suicide = game.point("B1")  # of two stones, which restores the position before A1
    assert not game.is_legal(suicide, WHITE)
    explainer = Explainer(UniformEvaluator(8), SearchParameters(), Limits(visits=8), 1)
    about = explainer.study(game, WHITE, suicide, game.point("C4"))
    assert about is not None and (about.move, about.best) == (suicide, game.point("C4"))
    assert about.played.games[1].stone_at("A1") == EMPTY and game.stone_at("A1") == WHITE
    explainer.facts(about, 1.0)


def test_only_a_doubt_is_said_if_a_longer_search_finds_less_than_half_of_the_loss() -> None:
    game, _ = drawn(CORNER)
    about = study(variation(game, ["E4"], {"A3 B3 B2": -0.9}), variation(game, ["B1"], {"A3 B3 B2": 0.9}, lead=5.0))
    explainer = Explainer(UniformEvaluator(8), SearchParameters(), Limits(visits=8), 1)
    assert [type(fact) for fact in explainer.facts(about, 9.0)] == [GroupChanged]
    (doubt,) = explainer.facts(about, 11.0)
    assert reason_of(about, doubt).text == ("A longer search doubts this: it finds B1 only 5.0 points better than E4.")
    better_after_all = replace(about, better=replace(about.better, lead=-1.0))
    (doubt,) = explainer.facts(better_after_all, 11.0)
    assert reason_of(about, doubt).text == "A longer search does not confirm this: it does not find B1 better than E4."


def test_a_loss_of_win_rate_is_compared_with_the_win_rate_that_a_longer_search_finds() -> None:
    game, _ = drawn(CORNER)
    stones = "A3 B3 B2"
    better = variation(game, ["B1"], {stones: 0.9}, lead=0.1, winrate=0.75)
    about = study(variation(game, ["E4"], {stones: -0.9}, winrate=0.4), better)
    explainer = Explainer(UniformEvaluator(8), SearchParameters(), Limits(visits=8), 1)
    assert [type(fact) for fact in explainer.facts(about, 0.35, "winrate")] == [GroupChanged]
    (doubt,) = explainer.facts(about, 0.8, "winrate")
    assert reason_of(about, doubt).text == (
        "A longer search doubts this: it finds that E4 costs only 35.0% of the win rate."
    )
    as_good = replace(about, better=replace(better, lead=9.0, winrate=0.405))
    (doubt,) = explainer.facts(as_good, 0.8, "winrate")
    assert reason_of(about, doubt).text == "A longer search does not confirm this: it does not find B1 better than E4."


def test_listed_and_large_mistakes_are_explained() -> None:
    moves = [loss(number, BLACK, 45, 46 + number % 30, 4 + number / 20) for number in range(1, 31)]
    chosen = worth_explaining(game_of(moves).mistakes)
    assert [move.number for move in chosen] == list(range(30, 20, -1))
    large = [loss(number, BLACK, 45, 46 + number % 30, 6 + number / 20) for number in range(1, 31)]
    assert len(worth_explaining(game_of(large).mistakes)) == 30


def test_reasons_are_in_the_record_and_in_the_json_file() -> None:
    move = loss(1, BLACK, 33, 44, 7.0, 0.3)
    review = game_of([move], reasons={1: [reason((33, 44))]})
    line = f"{move.vertex(33)} {move.vertex(44)}"
    text = "D4 is a neutral point: it gains no territory."
    assert f"{text} ({line})" in annotated(review).main_line[1].comment
    assert f'"text": "{text}"' in to_json([review])
