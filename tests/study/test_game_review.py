"""The facts of a reviewed game: mistakes, phases, accuracy, and the forms in which they are written."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from reviews import D4, E5, F6, G7, game_of, loss, own_review, review

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, PASS, WHITE, parse_vertex
from gtp_engine.go.game import Move
from gtp_engine.go.sgf import GameRecord, read_sgf
from gtp_engine.study.game_review import GameReview, accuracy, statistics
from gtp_engine.study.level import Level
from gtp_engine.study.move_review import (
    MoveReview,
    Phase,
    class_label,
    find_mistakes,
    loss_class,
    whole,
)
from gtp_engine.study.page.curves import picture
from gtp_engine.study.page.page import figures_of_games
from gtp_engine.study.review_data import to_csv, to_json
from gtp_engine.study.review_sgf import annotated, move_comment, summary

B2 = parse_vertex("B2", 9, 9)


def spans(moves: list[MoveReview], **options: object) -> list[tuple[str, int]]:
    """The numbers of the moves of each mistake, and of the worst of them."""
    return [(mistake.span, mistake.worst.number) for mistake in find_mistakes(moves, **options)]  # type: ignore[arg-type]


# Moves.


@pytest.mark.parametrize(("points", "told"), [(0.44, 0), (0.45, 1), (0.5, 1), (2.46, 3), (2.5, 3), (-0.04, 0)])
def test_whole_points_follow_from_the_tenths_that_are_shown(points: float, told: int) -> None:
    assert whole(points) == told


@pytest.mark.parametrize(("colour", "winrate", "lead"), [(BLACK, 0.3, -4.0), (WHITE, 0.7, 4.0)])
def test_cost_is_the_value_before_the_move_less_the_value_after(colour: int, winrate: float, lead: float) -> None:
    mistake = review(colour, D4, E5, (0.5, 0.7), (0.0, 4.0))
    assert (mistake.winrate_loss, mistake.points_loss) == (pytest.approx(0.2), pytest.approx(4.0))
    assert (mistake.winrate, mistake.lead) == (pytest.approx(winrate), pytest.approx(lead))
    assert (mistake.best, mistake.better_line) == (E5, (E5, F6))


def test_a_move_that_the_search_prefers_or_after_which_the_value_rises_costs_nothing() -> None:
    first = review(BLACK, E5, E5, (0.5, 0.9), (0.0, 9.0))
    assert (first.winrate_loss, first.points_loss, first.better_line) == (0, 0, ())
    assert (first.drop.winrate, first.drop.lead) == (pytest.approx(0.4), 9)
    better = review(BLACK, D4, E5, (0.5, 0.45), (0.0, -0.5))
    assert (better.winrate_loss, better.points_loss) == (0, 0)
    assert (better.drop.winrate, better.drop.lead) == (pytest.approx(-0.05), -0.5)


def test_a_move_with_stones_set_up_after_it_costs_nothing() -> None:
    mistake = replace(review(BLACK, D4, E5, (0.5, 0.7), (0.0, 4.0)), has_setup=True)
    assert (*mistake.cost, *mistake.drop) == (0, 0, 0, 0)
    assert (mistake.winrate, mistake.lead) == (pytest.approx(0.3), pytest.approx(-4.0))
    game = game_of([mistake])
    assert game.judged() == game.mistakes == [] and game.own_moves == [mistake]


def test_place_and_complexity() -> None:
    # E5 is the best; D4 is expected to lose 2 points, and a player who follows the policy chooses it every fourth time.
    second = review(BLACK, D4, E5, (0.5, 0.5), (0.0, 0.0), others=((D4, 0.1, 2.0),), prior=0.3)
    assert (second.place, second.complexity) == (2, pytest.approx(0.1 * 2.0 / 0.4))
    assert review(BLACK, E5, E5, (0.5, 0.5), (0.0, 0.0)).place == 1
    untried = review(BLACK, D4, E5, (0.5, 0.5), (0.0, 0.0), others=((F6, 0.9, 5.0),), prior=0.1)
    assert (untried.place, untried.complexity) == (None, 1)


# Mistakes.


def test_the_steps_of_a_review_do_not_count_its_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A review of 2,000 moves has 2,000 steps, and counting takes as long as the game is."""
    counted: list[int] = []
    find = find_mistakes
    monkeypatch.setattr(
        "gtp_engine.study.game_review.find_mistakes",
        lambda moves, *how: counted.append(len(moves)) or find(moves, *how),
    )
    growing = game_of([])
    for number in range(1, 21):
        growing = replace(growing, searched=(*growing.searched, loss(number, BLACK, D4, E5, 3.0, 0.2)))
    assert counted == []
    assert len(growing.moves) == 20 and growing.mistakes and counted == [20]


def test_the_most_costly_mistakes_come_first_and_good_moves_not_at_all() -> None:
    moves = [loss(1, BLACK, D4, E5, 1.0, 0.2), loss(2, WHITE, D4, D4, 9.0), loss(3, BLACK, D4, F6, 4.0, 0.1)]
    assert spans(moves) == [("3", 3), ("1", 1)]


def test_points_count_less_the_surer_it_is_who_wins_but_large_losses_are_never_behind_tiny_ones() -> None:
    level = Level(-15, 81)
    decided, even = review(BLACK, D4, E5, (0.0, 1.0), (-40.0, 63.6)), review(BLACK, D4, F6, (0.5, 0.8), (0.0, 0.7))
    close = review(BLACK, D4, G7, (0.5, 0.9), (1.0, 5.0))
    moves = [replace(move, number=number, level=level) for number, move in enumerate((decided, even, close), 1)]
    assert [move.points_loss for move in moves] == [23.6, 0.7, 6.0]
    assert [worst for _, worst in spans(moves)] == [3, 1, 2]


def test_of_a_mistake_made_again_the_most_costly_move_counts() -> None:
    again = [loss(1, BLACK, D4, E5, 5.0, 0.3), loss(3, BLACK, D4, E5, 10.0, 0.0)]
    moves = [*again, loss(4, WHITE, D4, F6, 20.0), loss(5, BLACK, D4, G7, 2.0, 0.1)]
    assert spans(moves) == [("4", 4), ("1-3", 3), ("5", 5)]
    first_checked = [replace(again[0], is_checked=True), again[1]]
    assert spans(first_checked) == [("1-3", 1)], "of the moves that have been checked"
    assert game_of(first_checked, is_checked=True).mistakes[0].worst.points_loss == 5.0
    alike = [again[0], replace(again[0], number=3, is_checked=True)]
    assert spans(alike) == [("1-3", 3)], "of equal ones that which has been checked"


def test_half_a_point_is_the_least_mistake() -> None:
    moves = [loss(1, BLACK, D4, E5, 0.44, 0.012), loss(2, WHITE, D4, F6, 0.51, 0.008)]
    assert spans(moves) == [("2", 2)]


def test_what_is_compared_is_rounded_as_it_is_shown() -> None:
    shown, hidden = loss(1, BLACK, D4, E5, 0.46, 0.0096), loss(2, WHITE, D4, F6, 0.44, 0.0094)
    assert repr(shown) == "<MoveReview: 1 black D4 (-0.5 points, -1.0%; E5 is better)>"
    (mistake,) = find_mistakes([shown, hidden])
    assert mistake.worst == shown
    assert loss_class(loss(3, BLACK, D4, E5, 5.96).points_loss) == loss_class(6.0), "the list says 6.0"
    assert not loss(4, BLACK, D4, E5, 0.04, 0.0004).has_cost


def test_a_point_that_a_player_misses_again_is_one_mistake() -> None:
    moves = [
        loss(10, WHITE, D4, E5, 3),
        loss(11, BLACK, D4, E5, 5),
        loss(12, WHITE, D4, G7, 1),
        loss(13, BLACK, D4, E5, 4),
    ]
    assert spans(moves) == [("11-13", 11), ("10", 10), ("12", 12)]
    assert spans(moves, player=BLACK) == [("11-13", 11)]


def test_a_mistake_is_made_again_only_if_the_opponent_has_given_back_half_of_it() -> None:
    first = loss(1, BLACK, D4, E5, 8)
    for lead, found in ((-4.0, [("1-3", 1)]), (-4.1, [("1", 1), ("3", 3)])):
        again = review(BLACK, D4, E5, (0.5, 0.5), (lead, 8.0 - lead), number=3)
        assert spans([first, again]) == found


def test_a_point_that_stays_open_is_one_mistake_whatever_it_is_worth() -> None:
    costs = (9, 8, 12, 25, 29, 11, 4)
    moves = [loss(number, BLACK, D4, E5, cost) for number, cost in zip(range(51, 100, 2), costs, strict=False)]
    assert spans(moves) == [("51-63", 59)]
    black = statistics(game_of(moves).judged(BLACK))
    assert (black.moves, black.again, black.lost) == (7, 6, 29)
    dearer = review(BLACK, D4, E5, (0.5, 0.5), (-4.6, 24.6), number=3)
    assert spans([loss(1, BLACK, D4, E5, 9), dearer]) == [("3", 3), ("1", 1)], "White has given back 4.4 of 9"
    assert spans([loss(1, BLACK, D4, E5, 9), replace(dearer, before=moves[0].before)]) == [("1-3", 3)]


def laddered(move: MoveReview, *stones: str) -> MoveReview:
    """A move that is a mistake because a ladder catches these stones."""
    return replace(move, ladder=frozenset(parse_vertex(stone, 9, 9) for stone in stones))


def test_a_ladder_that_stays_open_is_one_mistake_whatever_it_is_worth() -> None:
    moves = [loss(1, BLACK, D4, E5, 21.0, 0.8), loss(2, WHITE, D4, E5, 9.0, 0.1), loss(37, BLACK, D4, G7, 8.0, 0.1)]
    caught, catching, _ = (laddered(move, "C3", "C4") for move in moves)
    for stones in (("C3", "C4"), ("B4", "C3", "C4", "C5")):
        game = game_of([caught, catching, laddered(moves[2], *stones)])
        assert [mistake.span for mistake in game.mistakes] == ["1-37", "2"]
        assert [move.repeats for move in game.moves] == [None, None, 1]
    for other in (laddered(moves[2], "C5"), moves[2]):
        assert spans([caught, catching, other]) == [("1", 1), ("2", 2), ("37", 37)]


def test_a_ladder_that_catches_later_stones_on_the_same_points_is_another_one() -> None:
    first, last = loss(1, BLACK, D4, E5, 21.0, 0.8), laddered(loss(37, BLACK, D4, G7, 8.0, 0.1), "B2", "C2")
    between = loss(36, BLACK, B2, B2, 0)
    assert spans([laddered(first, "B2"), between, last]) == [("1", 1), ("37", 37)]
    assert spans([laddered(first, "B2", "C2"), between, last]) == [("1-37", 1)], "one of the stones has stood since"


def test_a_ladder_that_joins_two_mistakes_takes_in_all_their_moves() -> None:
    moves = [loss(number, BLACK, D4, best, 9.0, 0.1) for number, best in ((1, E5), (3, G7), (5, E5), (7, G7))]
    assert [span for span, _ in spans(moves)] == ["1-5", "3-7"]
    moves[2:] = [laddered(moves[2], "C3"), laddered(moves[3], "C3", "C4")]
    assert [span for span, _ in spans(moves)] == ["1-7"]
    assert [span for span, _ in spans([*moves, loss(9, BLACK, D4, E5, 2.0)])] == ["1-9"], "either point is its point"


def test_after_a_complete_second_look_only_what_it_has_confirmed_is_a_mistake() -> None:
    moves = [loss(1, BLACK, D4, E5, 3), loss(2, WHITE, G7, F6, 2), loss(3, BLACK, D4, E5, 5), loss(4, WHITE, D4, G7, 9)]
    moves[:2] = [replace(move, is_checked=True) for move in moves[:2]]
    listed = [[mistake.span for mistake in game_of(moves, is_checked=done).mistakes] for done in (True, False)]
    assert listed == [["1-3", "2"], ["4", "1-3", "2"]]
    assert find_mistakes(moves)[1].worst.number == 1, "the dearer move has not been checked"


def test_a_ko_that_is_taken_in_between_is_missed_once() -> None:
    moves = [loss(1, WHITE, D4, E5, 1.1), loss(2, BLACK, E5, E5, 0), loss(5, WHITE, F6, F6, 0)]
    assert spans([*moves, loss(7, WHITE, D4, E5, 2.1)]) == [("1-7", 7)], "who wins it is one subject"
    kept = review(WHITE, D4, E5, (0.5, 0.5), (-1.0, 3.1), number=7)
    assert spans([*moves, kept]) == [("7", 7), ("1", 1)], "nothing has been given back"


def test_a_point_is_missed_anew_after_stones_are_set_up() -> None:
    set_up = replace(loss(2, WHITE, D4, F6, 3), has_setup=True)
    assert spans([loss(1, BLACK, D4, E5, 3), set_up, loss(3, BLACK, D4, E5, 2)]) == [("1", 1), ("3", 3)]


def test_a_point_that_is_forgotten_for_long_is_missed_anew() -> None:
    assert spans([loss(1, BLACK, D4, E5, 3), loss(11, BLACK, D4, E5, 2)]) == [("1-11", 1)]
    assert spans([loss(1, BLACK, D4, E5, 3), loss(12, BLACK, D4, E5, 2)]) == [("1", 1), ("12", 12)]


def test_classes_are_katrains() -> None:
    points = (0, 0.49, 0.5, 1.49, 1.5, 3, 5.99, 6, 12, 40)
    assert [loss_class(loss) for loss in points] == [0, 0, 1, 1, 2, 3, 3, 4, 5, 5]
    labels = [class_label(number) for number in range(6)]
    assert labels == ["below 0.5", "0.5 to 1.5", "1.5 to 3", "3 to 6", "6 to 12", "12 or more"]


# Phases and statistics.


@pytest.mark.parametrize(("board", "firsts"), [((19, 19), [1, 51, 145]), ((9, 9), [1, 12, 33]), ((2, 2), [1, 1, 2])])
def test_first_moves_of_the_phases(board: tuple[int, int], firsts: list[int]) -> None:
    assert [phase.first_move(*board) for phase in Phase] == firsts


@pytest.mark.usefixtures("phases_on_9x9")
def test_phase_of_a_move() -> None:
    numbers = (1, 11, 12, 32, 33, 200)
    phases = [loss(number, BLACK, D4, E5, 0).phase.label for number in numbers]
    assert phases == ["opening", "opening", "middle game", "middle game", "endgame", "endgame"]


@pytest.mark.parametrize(("board", "count"), [((13, 13), 3), ((19, 13), 3), ((13, 12), 0), ((9, 9), 0)])
def test_small_boards_have_no_phases(board: tuple[int, int], count: int) -> None:
    assert len(Phase.on(*board)) == count
    first = loss(1, BLACK, D4, E5, 0)
    on_board = replace(first, before=replace(first.before, width=board[0], height=board[1]))
    assert on_board.phase == (Phase.OPENING if count else None)


def test_statistics() -> None:
    moves = [
        loss(1, BLACK, E5, E5, 0),
        review(BLACK, D4, E5, (0.5, 0.6), (0.0, 2.0), others=((D4, 0.1, 0.5),)),
        loss(5, BLACK, D4, E5, 4.0, 0.2),
    ]
    numbers = statistics(moves)
    assert (numbers.moves, numbers.first_choice, numbers.first_five) == (3, 1, 2)
    assert numbers.points_lost == pytest.approx((2 + 4) / 3)
    assert numbers.winrate_lost == pytest.approx((0.1 + 0.2) / 3)
    assert (numbers.classes, numbers.lost, numbers.again) == ((1, 0, 1, 1, 0, 0), 6, 0)


def test_a_mistake_counts_once_in_list_totals_and_files() -> None:
    """Both players leave one point open for long: each has lost it once, and not with every move in between."""
    moves = [loss(number, 2 - number % 2, D4, E5, 20.0 + (number == 9), 0.1) for number in range(1, 21)]
    moves += [loss(21, BLACK, E5, E5, 0.0), loss(22, WHITE, G7, F6, 2.0, 0.05)]
    game = game_of(moves)
    assert [(mistake.span, mistake.worst.number) for mistake in game.mistakes] == [("1-19", 9), ("2-20", 2), ("22", 22)]
    black, white = (figures.all for figures in game.figures().values())
    assert [(numbers.moves, numbers.again, numbers.lost) for numbers in (black, white)] == [(11, 9, 21), (11, 9, 22)]
    assert (black.classes, white.classes) == ((1, 0, 0, 0, 0, 1), (0, 0, 1, 0, 0, 1))
    assert (black.points_lost, black.first_choice) == (pytest.approx(21 / 11), 1)
    assert black.winrate_lost == pytest.approx(0.1 / 11)
    table = json.loads(to_json([game]))["games"][0]
    assert sum(mistake["points_lost"] for mistake in table["mistakes"]) == black.lost + white.lost
    for rows in (table["moves"], [*csv.DictReader(io.StringIO(to_csv([game])))]):
        assert sum(float(row["points_lost"]) for row in rows) == black.lost + white.lost
        assert {str(row["repeats"]) for row in rows if int(row["move"]) % 2} - {"", "None"} == {"9"}
    assert "Black (Ann 3d): 1.91 points lost per move" in summary(game)
    nodes = annotated(game).main_line
    assert nodes[9].text("BM") == "2" and "D4 loses 21.0 points" in nodes[9].comment
    assert not {"BM", "DO"} & nodes[11].properties.keys()
    assert nodes[11].comment == "The same mistake as move 9: E5 was better."
    assert sum(losses_drawn(game)) == pytest.approx(black.lost + white.lost, rel=0.01)


def losses_drawn(game: GameReview) -> list[float]:
    """The points lost that the bars in the picture of a game stand for."""
    tops = re.findall(r'd="M[\d.]+ 100.00L[\d.]+ ([\d.]+)L[^"]*" class="lost', picture([game]))
    highest = 1.1 * max(move.points_loss for move in game.judged())
    return [(1 - float(top) / 100) * highest for top in tops]


def test_a_move_that_repeats_a_mistake_says_so() -> None:
    game = game_of([loss(1, BLACK, D4, E5, 4.0), loss(2, WHITE, F6, F6, 0.0), loss(3, BLACK, G7, E5, 3.0)])
    first, _, again = game.moves
    assert repr(again) == "<MoveReview: 3 black G7 (the same mistake as move 1; E5 is better)>"
    assert (again.cost.lead, again.points_loss, again.repeats) == (3, 0, 1)
    assert "The same mistake as move 1: E5 was better." in move_comment(again)
    settled = replace(game, searched=(replace(first, after=loss(1, BLACK, D4, E5, 0.0).after), again))
    assert settled.moves[1].points_loss == 3, "the first one turned out to cost nothing"


def test_accuracy_is_katrains() -> None:
    assert accuracy([loss(1, BLACK, E5, E5, 0)]) == 100
    assert accuracy([loss(1, BLACK, D4, E5, 2)]) == pytest.approx(100 * 0.75**2)
    again = replace(loss(3, BLACK, D4, E5, 9), repeats=1)  # weighs 0.05, whatever is at stake
    assert accuracy([loss(1, BLACK, D4, E5, 2), again]) == pytest.approx(100 * 0.75 ** (0.5 * 2 / (0.5 + 0.05)))
    # An obvious move weighs 0.05, a loss of two points 0.5, one of four points and more 1.
    moves = [loss(1, BLACK, E5, E5, 0), loss(3, BLACK, D4, E5, 2), loss(5, BLACK, D4, E5, 8)]
    assert accuracy(moves) == pytest.approx(100 * 0.75 ** ((0.5 * 2 + 8) / (0.05 + 0.5 + 1)))


def test_only_one_player_is_judged_if_wanted() -> None:
    moves = [loss(1, BLACK, D4, E5, 1.0), loss(2, WHITE, G7, F6, 2.0), loss(13, BLACK, D4, E5, 3.0)]
    both, black = game_of(moves), game_of(moves, player=BLACK)
    assert [len(game.judged()) for game in (both, black)] == [3, 2]
    assert not black.judged(WHITE)
    assert [mistake.worst.number for mistake in black.mistakes] == [13, 1]
    assert both.title == "Ann 3d - Bob"


def costs_seen(values: Sequence[float]) -> list[float]:
    """What Black loses and White wins by each move, by the values of a curve."""
    return [
        round(before - after, 6) * (1 - 2 * (number % 2)) for number, (before, after) in enumerate(pairwise(values))
    ]


def test_the_curve_and_the_files_fall_by_the_costs_of_the_list() -> None:
    better = (E5, E5, F6, F6)
    moves = [loss(number, 2 - number % 2, D4, best, 8.0, 0.3) for number, best in enumerate(better, 1)]
    chained = [replace(after, before=before.after) for before, after in pairwise(moves)]
    game = game_of([moves[0], *chained])
    costs = {mistake.worst.number: mistake.worst.points_loss for mistake in game.mistakes}
    falls = costs_seen(game.leads)
    assert costs and all(falls[number - 1] == pytest.approx(cost) for number, cost in costs.items())
    data = json.loads(to_json([game]))["games"][0]
    for written in (
        [float(node.text("V")) for node in annotated(game).main_line],
        [game.leads[0], *(move["black_lead"] for move in data["moves"])],
    ):
        assert written == pytest.approx(game.leads, abs=0.006)


# SGF.


def test_comment() -> None:
    assert move_comment(review(BLACK, D4, E5, (0.5, 0.7), (0.0, 4.0))) == (
        "Black's win rate: 30.0%\nLead: W+4.0\nVisits: 20\nMain line: F6 F6\n"
        "D4 loses 4.0 points and 20.0% in win rate; E5 was better.\nBetter line: E5 F6"
    )
    assert "Better" not in move_comment(review(BLACK, E5, E5, (0.5, 0.7), (0.0, 4.0)))
    too_little_to_show = loss(1, BLACK, D4, E5, 0.04, 0.0004)
    assert "Better" not in move_comment(too_little_to_show)
    assert "better" not in repr(too_little_to_show)


def test_every_move_has_values_and_only_mistakes_have_comments() -> None:
    moves = [loss(1, BLACK, E5, E5, 0.0), loss(2, WHITE, D4, F6, 4.0, 0.2)]
    game = game_of(moves)
    nodes = annotated(game).main_line
    assert [node.comment.split("\n")[0] for node in nodes] == ["start", "", "Black's win rate: 70.0%"]
    assert [node.text("SBKV") for node in nodes] == ["50.00", "50.00", "70.00"]
    assert [node.text("V") for node in nodes] == ["0.00", "0.00", "4.00"]
    assert [node.text("SBKS") for node in nodes] == ["0.00", "0.00", "4.00"]
    assert [node.comment for node in game.record.main_line] == ["start", "", ""]
    everything = annotated(game, comment_all=True).main_line
    assert everything[1].comment.startswith("Black's win rate: 50.0%\nLead: even")
    assert everything[2].properties == nodes[2].properties


def test_the_komi_is_written_in_points() -> None:
    """Some servers write hundredths or zi, which other programs would take for points."""
    game = game_of([loss(1, BLACK, E5, E5, 0.0)])
    game.record.root.set_text("KM", "375")
    assert (game.record.komi, annotated(game).root.text("KM")) == (7.5, "7.5")


def test_a_mistake_has_marks_and_the_better_line_as_a_variation() -> None:
    moves = [loss(1, BLACK, D4, E5, 4.0, 0.2), loss(2, WHITE, F6, F6, 0.0), loss(3, BLACK, G7, E5, 2.0)]
    record = annotated(game_of(moves))
    first, _, second = record.main_line[1:]
    assert [first.text(name) for name in ("BM", "HO", "TR")] == ["1", "1", "ee"]
    _, better = record.root.children
    assert [better.move, *(node.move for node in better.children)] == [Move(BLACK, E5), Move(WHITE, F6)]
    assert [better.text(name) for name in ("TE", "V", "SBKV", "SBKS")] == ["1", "0.00", "50.00", "0.00"]
    assert better.comment == "Black's win rate: 50.0%\nLead: even\nVisits: 20"
    # The same point again: no second variation, and no second mark.
    assert {"BM", "DO", "TR", "HO"} & second.properties.keys() == {"TR"}
    assert second.comment == "The same mistake as move 1: E5 was better."
    assert len(list(record)) == 4 + 2


@pytest.mark.parametrize(("points", "mark"), [(1.4, None), (1.5, "DO[]"), (3, "BM[1]"), (6, "BM[2]"), (20, "BM[2]")])
def test_marks_by_the_loss(points: float, mark: str | None) -> None:
    text = annotated(game_of([loss(1, BLACK, D4, E5, points)])).to_sgf()
    assert re.findall(r"(?:DO|BM)\[\d?\]", text) == ([mark] if mark else [])


def test_small_mistakes_beyond_the_list_stay_unmarked() -> None:
    far_apart = [loss(20 * number, BLACK, D4, E5, 1.0 - number / 100) for number in range(1, 13)]
    game = game_of([loss(number, BLACK, D4, D4, 0.0) for number in range(1, 241)])
    moves = tuple(next((bad for bad in far_apart if bad.number == good.number), good) for good in game.moves)
    nodes = annotated(type(game)(game.record, game.conditions, moves)).main_line
    assert [len(nodes[bad.number - 1].children) > 1 for bad in far_apart] == [True] * 10 + [False] * 2


def test_summary_names_the_players_and_their_mistakes() -> None:
    moves = [loss(1, BLACK, D4, E5, 4.0, 0.2), loss(2, WHITE, G7, F6, 2.0), loss(3, BLACK, D4, E5, 2.0)]
    lines = summary(game_of(moves)).split("\n")
    assert lines[0].endswith(": net, 20 visits per position; Chinese rules, komi 7")
    assert lines[1:] == [
        "Black (Ann 3d): 2.00 points lost per move, accuracy 33%, engine's first choice 0%",
        "White (Bob): 2.00 points lost per move, accuracy 56%, engine's first choice 0%",
        "Moves 1-3: 1 B D4, better E5 (4.0 points, 20.0% win rate)",
        "Move 2: W G7, better F6 (2.0 points, 0.0% win rate)",
    ]


def test_annotated_record_reads_as_the_same_game() -> None:
    moves = [loss(1, BLACK, D4, E5, 4.0, 0.2), loss(2, WHITE, G7, F6, 7.0), loss(3, BLACK, PASS, D4, 1.0)]
    game = game_of(moves)
    text = annotated(game).to_sgf()
    assert text.count("(;") == 1 + 2 * 3
    assert read_sgf(text.encode()).moves == game.record.moves
    # The better line of the second mistake branches off after the first one was played.
    better = read_sgf(text.encode(), variation=[0, 1]).moves
    assert better == [Move(BLACK, D4), Move(WHITE, F6), Move(BLACK, F6)]


# JSON and CSV.


@pytest.mark.usefixtures("phases_on_9x9")
def test_json_holds_moves_mistakes_and_players() -> None:
    moves = [loss(1, BLACK, D4, E5, 4.0, 0.2), loss(2, WHITE, F6, F6, 0.0), loss(12, BLACK, F6, F6, 0.0)]
    table = json.loads(to_json([game_of(moves)]))
    (game,) = table["games"]
    assert table["classes"] == [0.5, 1.5, 3, 6, 12]
    assert (game["file"], game["result"], game["komi"]) == ("game.sgf", "B+2", 7)
    assert (game["network"], game["visits"], game["seconds"], game["seed"]) == ("net", 20, None, 1)
    assert game["mistakes"] == [
        {
            "best": "E5",
            "better_line": ["E5", "F6"],
            "worst": 1,
            "moves": [1],
            "winrate_lost": 0.2,
            "points_lost": 4.0,
            "reasons": [],
        }
    ]
    assert game["moves"][0] == {
        "move": 1,
        "player": "black",
        "phase": "opening",
        "played": "D4",
        "best": "E5",
        "place": None,
        "better_line": ["E5", "F6"],
        "black_winrate": 0.3,
        "black_lead": -4.0,
        "winrate_lost": 0.2,
        "points_lost": 4.0,
        "repeats": None,
        "checked": False,
    }
    black = game["players"]["black"]
    assert (black["moves"], black["points_lost"], black["classes"]) == (2, 2.0, [1, 0, 0, 1, 0, 0])
    assert [(label, phase["moves"]) for label, phase in black["phases"].items()] == [("opening", 1), ("middle game", 1)]
    assert json.loads(to_json([game_of(moves, player=WHITE)]))["games"][0]["players"].keys() == {"white"}


def test_a_rank_that_the_name_ends_with_is_not_repeated() -> None:
    record = GameRecord(black="gtp_engine 12k", black_rank="12k", white="Ann", white_rank="2k")
    assert replace(game_of([loss(1, BLACK, D4, E5, 4.0)]), record=record).title == "gtp_engine 12k - Ann 2k"


def test_csv_has_a_line_per_judged_move() -> None:
    moves = [loss(1, BLACK, D4, E5, 4.0, 0.2), loss(2, WHITE, G7, E5, 2.0)]
    rows = list(csv.DictReader(io.StringIO(to_csv([game_of(moves), game_of(moves, player=WHITE)]))))
    assert [(row["file"], row["move"], row["played"]) for row in rows] == [
        ("game.sgf", "1", "D4"),
        ("game.sgf", "2", "G7"),
        ("game.sgf", "2", "G7"),
    ]
    assert (rows[0]["white"], rows[0]["points_lost"], rows[0]["place"]) == ("Bob", "4.0", "")


# The picture.


def test_picture() -> None:
    game = game_of([review(BLACK, D4, E5, (0.5, 0.7), (0.0, 4.0)), review(WHITE, PASS, E5, (0.5, 0.7), (0.0, 4.0))])
    game.record.black = "<A> - 呉"
    text = picture([game])
    texts = [element.text for element in ElementTree.fromstring(text).iter() if element.tag.endswith("}text")]
    assert {"Lead in points", "Black's win rate", "Points lost", "move", "B+5", "50%"} <= {*texts}
    assert "<A> - 呉" in texts[0], texts[0]
    assert text.count('class="lost ') == 2 and text.count("<a ") == 4, "a bar each, and marks in both graphs"
    assert "var(" not in text and "href" not in text


def test_picture_of_several_games_has_one_below_the_other() -> None:
    good, bad = (game_of([loss(1, BLACK, played, E5, cost)]) for played, cost in ((E5, 0.0), (D4, 4.0)))
    height = int(re.findall(r'viewBox="0 0 900 (\d+)"', picture([good]))[0])
    both = picture([good, bad])
    assert f'viewBox="0 0 900 {2 * height}"' in both and both.count("<a ") == 2
    assert both.index("<a ") > both.index(f'<svg y="{height}">') > both.index('<svg y="0">')
    assert "<a " not in picture([good])


def test_reviews_as_text() -> None:
    moves = [loss(1, BLACK, D4, E5, 2.5, 0.12), loss(2, BLACK, G7, E5, 1.5, 0.0), loss(3, BLACK, E5, E5, 0)]
    assert repr(moves[0]) == "<MoveReview: 1 black D4 (-2.5 points, -12.0%; E5 is better)>"
    assert repr(moves[2]) == "<MoveReview: 3 black E5>"
    both, single = game_of(moves).mistakes[0], game_of(moves[1:]).mistakes[0]
    assert repr(both) == "<Mistake: moves 1-2; worst: 1 black D4 (-2.5 points, -12.0%; E5 is better)>"
    assert repr(single) == "<Mistake: 2 black G7 (-1.5 points, 0.0%; E5 is better)>"


def test_a_colour_as_text() -> None:
    game = game_of([loss(1, BLACK, D4, E5, 2), loss(2, WHITE, D4, E5, 2)])
    assert [move.number for move in game.judged("white")] == [2]
    assert game.name("black") == "Ann 3d"
    with pytest.raises(UserError, match="invalid colour 'red'"):
        game.judged("red")


def test_a_game_against_the_engine_is_called_as_people_would() -> None:
    review = own_review()
    at_25k = (("b6c64-19x19 ", "25k", "25 kyu"), ("", "25k", "25 kyu"))
    for name, rank, said in (*at_25k, ("b6c64-19x19", "", "full strength"), ("", "4d", "4 dan")):
        review.record.white, review.record.white_rank = f"gtp_engine {name}{rank}".strip(), rank
        assert review.title == f"Black - Engine, {said}"  # "you" would be each of its readers
        assert review.name("black") == "You"
    assert review.title_in("es") == "Negro - Motor, 4 dan"
    assert [player.name for player in figures_of_games([review, review])] == ["You", "Engine, 4 dan"]
    review.record.white = "gtp_engine 99k"  # no rank of this version
    assert review.title == "Black - gtp_engine 99k 4d"
    review.record.white, review.record.white_rank = "human", ""
    assert review.title == "Black - White"
    assert [player.name for player in figures_of_games([review])] == ["1. Black", "1. White"]
