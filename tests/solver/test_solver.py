"""Exact reading against brute force, on known shapes, and through its clients."""

import gc
import json
import random
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cases import some
from click.testing import CliRunner
from drawn_positions import SEKI, game_of
from reference_solver import ATTACKER, DEFENDER, BruteForce, Problem, around, random_problem

from gtp_engine import Branch, Engine, EngineSettings, Game, GameRecord, Outcome, UserError, read_sgf_games, solve
from gtp_engine.clients.cli import main
from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.solver import solution
from gtp_engine.solver.description import describe
from gtp_engine.solver.local_board import LOCAL, NO_KO, has_too_few_eyes
from gtp_engine.solver.moves import FAILED, REACHED
from gtp_engine.solver.part import enclosed_groups
from gtp_engine.solver.proof_search import Question, new_line
from gtp_engine.solver.reading import Memory
from gtp_engine.solver.transpositions import SEARCH, new_table
from gtp_engine.solver.verification import read

NOBODY = -1
TABLE, MEMORY = new_table(8), new_line()


def masks(problem: Problem, seeker: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns a problem in the form of the compiled search."""
    stride = max(map(len, problem.rows)) + 1
    cells = problem.places("Oox.")

    def mask(places: frozenset[tuple[int, int]]) -> tuple[int, int]:
        bits = sum(1 << (y * stride + x) for x, y in places)
        return bits & (2**64 - 1), bits >> 64

    def beside(marks: str) -> tuple[int, int]:
        outside = problem.places(marks)
        return mask(frozenset(cell for cell in cells if not outside.isdisjoint(around(cell))))

    local = np.zeros(1, LOCAL)
    local["stride"], local["suicide"] = stride, problem.suicide
    local["cells"], local["target"] = mask(cells), mask(problem.places("O"))
    outside = ["D", "X"]
    outside[1 - seeker] += "+"
    local["fixed"], local["open"] = [beside(marks) for marks in outside], beside("+")
    return local, np.array([*mask(problem.places("Oo")), *mask(problem.places("x"))], np.uint64)


def problem_of(rng: random.Random, free: int) -> Problem:
    """Returns a random problem with so many cells that are not of the target."""
    while True:
        problem = random_problem(rng, rng.randint(max(1, free - 3), free))
        if problem.places("O") and len(problem.places("ox.+")) == free:
            width, height = max(map(len, problem.rows)), len(problem.rows)
            if (width + 1) * height <= 128 and BruteForce(problem).is_possible():
                return problem


def compare(problem: Problem) -> int:
    """Compares all questions about a problem with brute force; returns their number."""
    compared, reference = 0, BruteForce(problem)
    for seeker in (DEFENDER, ATTACKER):
        local, cells = masks(problem, seeker)
        for ko_master in (NOBODY, DEFENDER, ATTACKER):
            for mover in (DEFENDER, ATTACKER):
                search = np.zeros(1, SEARCH)
                search["seeker"], search["ko_master"], search["most_nodes"] = seeker, ko_master, 10**6
                search["series"] = compared + 1
                TABLE["series"] = 0
                found = read(Question(local[0], search[0], TABLE, *MEMORY), cells, NO_KO, mover)
                wanted = REACHED if reference.solve(seeker, ko_master, mover) else FAILED
                # What fails in an open part may be reached with what lies outside.
                if found == REACHED or not problem.places("+"):
                    assert found == wanted, (problem, seeker, ko_master, mover)
                compared += 1
    return compared


def test_random_problems_are_solved_as_by_brute_force() -> None:
    rng = random.Random("small")
    assert sum(compare(problem_of(rng, free)) for free in (2, 3, 4, 5) for _ in range(10)) == 480


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_thousands_of_problems_are_solved_as_by_brute_force(part: int) -> None:
    # By the number of cells on which both play; those with many take the time.
    numbers = {2: 250, 3: 450, 4: 600, 5: 700, 6: 360, 7: 100, 8: 30, 9: 10}
    rng = random.Random(f"large {part}")
    compared = sum(compare(problem_of(rng, free)) for free, number in numbers.items() for _ in range(some(number)))
    assert compared == 12 * sum(map(some, numbers.values()))


@pytest.mark.parametrize("row", [".O.+", "+.O..", "+.O.+"])
def test_stones_at_the_end_of_an_open_part_are_not_safe(row: str) -> None:
    assert compare(Problem((row,))) == 12


@pytest.mark.parametrize(
    ("inside", "is_so"),
    [
        ("OOOOO/O.O.O/OOOOO", False),
        ("OOOOO/OO.OO/OOOOO", True),
        ("OOOOO/O..OO/OOOOO", True),  # two points next to each other are one eye
        ("OOOOO/O...O/OOOOO", False),
        ("OOOOO/O.x.O/OOOOO", False),  # White may capture it
        ("OOOOO/O.x.O/OOxOO", True),  # it is connected to safe stones
        ("OOOOO/O...O/OO.OO", False),
        ("O.O.O/OOOOO/OOOOO", True),  # both points are next to stones that stay
    ],
)
def test_room_for_two_eyes(inside: str, is_so: bool) -> None:
    rows = ("XXXXXXX", *(f"X{row}X" for row in inside.split("/")), "XXXXXXX")
    local, stones = masks(Problem(rows), DEFENDER)
    assert has_too_few_eyes(local[0], stones, np.zeros(2, np.uint64)) == is_so


SHAPES = {
    "straight three": (". . . O X\nO O O O X\nX X X X X", "unsettled", ["B7"], ["B7"]),
    "straight four": (". . . . O X\nO O O O O X\nX X X X X X", "alive", [], ["pass"]),
    "square four": (". . O X\n. . O X\nO O O X\nX X X X", "dead", ["pass"], []),
    "bulky five": (". . . O X\n. . O O X\nO O O X X\nX X X X .", "unsettled", ["B7"], ["B7"]),
    "bent three in the corner": (". . O X\n. O O X\nO O X X\nX X X .", "unsettled", ["A7"], ["A7"]),
    "two eyes": (". O . O X\nO O O O X\nX X X X X", "alive", [], ["pass"]),
    "one eye": (". O O X\nO O X X\nX X X .", "dead", ["pass"], []),
}


def position(drawing: str) -> Game:
    """Returns a game on 7x7 with stones in its upper left corner."""
    game = Game(7)
    marks = [
        (mark, f"{'ABCDEFG'[x]}{7 - y}")
        for y, row in enumerate(drawing.split("\n"))
        for x, mark in enumerate(row.split())
    ]
    game.set_up(*([vertex for mark, vertex in marks if mark == colour] for colour in "XO"))
    return game


def first_white(game: Game) -> int:
    return min(point for point in range(len(game.board[0]["stones"])) if game.board[0]["stones"][point] == WHITE)


@pytest.mark.parametrize("name", SHAPES)
def test_known_shapes(name: str) -> None:
    drawing, status, kills, saves = SHAPES[name]
    game = position(drawing)
    found = solve(game, [first_white(game)])
    assert found.status == status and found.defender == WHITE
    moves = {colour: [game.vertex(point) for point in answer.moves] for colour, answer in found.answers.items()}
    assert moves == {BLACK: kills, WHITE: saves}


def test_what_is_found_is_printed_with_vertices() -> None:
    found = solve(position(SHAPES["straight three"][0]), ["D7"])
    assert repr(found).startswith("<Solution: white ") and "D7" in repr(found)
    assert repr(found).endswith(" unsettled; black first, dies with B7; white first, lives with B7>")
    assert str(found.answers[WHITE]) == "white first, lives with B7"
    assert repr(found.answers[BLACK]).startswith("<Answer: black first, dies with B7; B7")
    assert repr(found.answers[BLACK].tree[0]).startswith("<Branch: B7") and "dies>" in repr(
        found.answers[BLACK].tree[0]
    )


def test_a_ko_is_found() -> None:
    game = position(KO)
    found = solve(game, ["D7"])
    assert [found.answers[colour].outcome for colour in (BLACK, WHITE)] == [Outcome.KO, Outcome.LIVES]


def test_the_memory_of_a_reading_is_free_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    memories = list[weakref.ref[solution.Memory]]()

    def memory() -> solution.Memory:
        made = Memory()
        memories.append(weakref.ref(made))
        return made

    monkeypatch.setattr(solution, "Memory", memory)
    gc.disable()
    try:
        solve(position(SHAPES["bulky five"][0]), ["D7"])
        assert [each() for each in memories] == [None]
    finally:
        gc.enable()


def test_one_player_to_move_first_is_enough() -> None:
    game = position(SHAPES["bulky five"][0])
    both = solve(game, ["D7"])
    for colour, name in ((BLACK, "black"), (WHITE, "white")):
        one = solve(game, "D7", first=name)
        assert one.answers[colour].moves == both.answers[colour].moves
        assert one.answers[3 - colour].outcome is Outcome.UNKNOWN and one.positions < both.positions


def test_a_line_shows_the_capture() -> None:
    game = position(SHAPES["bulky five"][0])
    line = solve(game, ["D7"]).answers[BLACK].line
    colour = BLACK
    for point in line:
        game.play(colour, point)
        colour = 3 - colour
    assert line and game.vertex(line[0]) == "B7"


KO = ". . . O X\n. O O O X\nO O X X X\nX X X . ."  # the bent four in the corner


def branches(tree: tuple[Branch, ...], game: Game) -> Iterator[tuple[Branch, Game]]:
    """Yields all moves of a tree with the positions after them."""
    for branch in tree:
        after = game.copy()
        after.play(game.to_move, branch.point)
        yield branch, after
        yield from branches(branch.replies, after)


@pytest.mark.parametrize("drawing", [SHAPES["straight three"][0], SHAPES["square four"][0], KO])
def test_what_a_tree_says_of_each_move_is_found_after_it(drawing: str) -> None:
    game = position(drawing)
    target = [point for point in solve(game, [first_white(game)]).target if game.stone_at(point)]
    found = solve(game, target[:1])
    for colour, answer in found.answers.items():
        game.to_move = colour
        works = [branch.point for branch in answer.tree if branch.outcome is answer.outcome]
        assert not answer.moves or sorted(works) == list(answer.moves)
        for branch, after in branches(answer.tree, game):
            outcome = Outcome.DIES
            if all(after.stone_at(point) for point in target):
                outcome = solve(after, target).answers[after.to_move].outcome
            assert branch.outcome is outcome


def test_a_wrong_first_move_is_refuted() -> None:
    game = position(SHAPES["straight three"][0])
    (dies, *wrong) = solve(game, ["D7"]).answers[BLACK].tree
    assert (dies.point, dies.outcome) == (game.point("B7"), Outcome.DIES)
    assert {game.vertex(branch.point) for branch in wrong} == {"A7", "C7"}
    for branch in wrong:
        assert branch.outcome is Outcome.LIVES
        assert [game.vertex(reply.point) for reply in branch.replies] == ["B7"]


def test_what_lies_outside_is_named() -> None:
    game = position(SHAPES["straight three"][0])
    found = solve(game, ["D7"])
    (wall,) = found.answers[BLACK].walls
    assert game.vertex(wall[0]) == "E7"
    assert describe(found, game)[:4] == [
        "White's 5 stones at D7: unsettled: who moves first decides",
        "  Black to move: it dies with B7; B7 A7 C7",
        "  White to move: it lives with B7; B7",
        "  if the stones around live: E7",
    ]
    # Pass-alive stones are not taken for granted.
    game = position(SHAPES["two eyes"][0])
    found = solve(game, ["D7"])
    assert not found.answers[BLACK].walls and not found.positions


def test_each_answer_names_what_it_takes_for_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solution, "_PARTS", ((2, False), (4, False), (8, False)))
    game = Game(4, 3)
    game.set_up(["B3", "A2", "C2"], ["C3", "D3", "B2", "A1"])
    answers = solve(game, ["A1"]).answers
    assert [answers[colour].outcome for colour in (BLACK, WHITE)] == [Outcome.DIES, Outcome.LIVES]
    # White lives by an attack on the very stones that Black counts on.
    assert answers[BLACK].walls and not answers[WHITE].walls


class StopAfter(threading.Event):
    """Is set once it has been asked so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def is_set(self) -> bool:
        self.times -= 1
        return self.times < 0


def test_a_reading_can_be_stopped_at_any_moment() -> None:
    game = position(SHAPES["straight three"][0])
    never = StopAfter(10**6)
    complete = solve(game, ["D7"], stop=never).answers
    for times in range(0, 10**6 - never.times, 3):
        for colour, answer in solve(game, ["D7"], stop=StopAfter(times)).answers.items():
            whole = complete[colour]
            assert answer.outcome in (Outcome.UNKNOWN, whole.outcome)
            assert answer.outcome is Outcome.UNKNOWN or (answer.moves == whole.moves and answer.line == whole.line)
            known = {branch.point: branch.outcome for branch in whole.tree}
            assert all(known[branch.point] is branch.outcome for branch in answer.tree)


def test_liberties_outside_may_be_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solution, "_PARTS", ((1, False),))
    game = Game(4, 5)
    game.set_up(
        ["A5", "B5", "C5", "B4", "A3", "B3", "C3", "C2"],
        ["D5", "C4", "D4", "D3", "A2", "B2", "D2", "B1", "C1", "D1"],
    )
    # White's only liberty is A1, which is not in a part of one empty point; Black's is A4.
    assert solve(game, ["D3"], seconds=0.2).answers[BLACK].outcome is not Outcome.LIVES


def test_the_points_near_a_small_group_are_read_although_its_colour_has_larger_ones() -> None:
    game = Game(9)
    game.set_up(
        ["D8", "D7", "B6", "C6", "D5", "E5", "F5", "F6", "F7", "F8"],
        ["E9", "E8", "E7", "E6", "D6", "C7", "B7", "C5", "B5", "C4"],
    )
    assert solve(game, ["B6"]).status == "dead"


def test_a_ko_may_not_be_retaken_at_once() -> None:
    game = Game(5)
    black, white = "A3 B3 B2 A1 C1", "A4 B4 C4 D4 E4 B5 D5 C3 E3 C2 D2 E2 D1"
    game.set_up(black.split(), white.split())
    game.play("white", "B1")
    answers = solve(game, ["B1"]).answers
    assert answers[BLACK].outcome is Outcome.KO
    assert answers[WHITE].outcome is Outcome.LIVES
    game.to_move = WHITE
    assert solve(game, ["B1"]).answers[BLACK].outcome is Outcome.DIES


def test_a_seki_is_found() -> None:
    assert solve(game_of(SEKI), ["A6"]).status == "seki"


def test_a_group_that_a_ko_may_still_give_two_eyes_is_in_no_seki() -> None:
    drawing = """
        . X . X O O . O X
        O X X X O O O X X
        O O X O O X X . X
        O X X O O O X X .
        O O O O X O O X X
        X X X X X X X X O
        . . X O X X X O O
        X X O O O O O . O
        X O O O X . O O O
    """
    game = game_of(drawing, to_move=WHITE)  # after Black has captured H9 at G9, White may retake
    assert solve(game, ["B6"]).status == "unknown"
    for vertex in ("pass", "G9", "pass"):
        game.play(game.to_move, vertex)
    assert solve(game, ["B6"]).answers[BLACK].outcome is Outcome.LIVES


def test_a_pass_gets_around_a_ko() -> None:
    # White has just taken a ko at B1. Black may not retake it and has no other move, but a pass leaves White helpless.
    game = Game(9, 6)
    black, white = "B1 A2 B3 C3 D3 E3 F3 F2 F1 A3 G1 G2", "C1 B2 C2 D2 E2 E1"
    game.set_up(black.split(), white.split())
    game.play("white", "A1")
    assert solve(game, ["A1"], first=BLACK).answers[BLACK].outcome is Outcome.DIES
    assert solve(game, ["A1"]).answers[BLACK].moves == (PASS,)


def test_a_group_that_gets_out_is_not_solved() -> None:
    game = Game(9)
    game.set_up(["C3"], ["G7"])
    found = solve(game, ["G7"], seconds=0.2)
    assert found.status == "unknown" and describe(found, game)[1] == "  Black to move: not solved"
    assert enclosed_groups(game) == []


def test_a_group_may_be_taken_to_be_enclosed() -> None:
    """An empty point around the part counts as a safe stone of the attacker's, and the rest of the board does not."""
    open_side, wall = Game(19), ["E18", "C17", "A17", "B17", "E19"]
    group = ["D19", "D18", "C18", "B18", "A18"]
    open_side.set_up(wall, group)
    closed = Game(19)
    closed.set_up([*wall, "D17"], group)
    within = "A19 B19 C19 D19 D18 C18 B18 A18"
    assert solve(open_side, ["D19"], seconds=0.2).answers[BLACK].outcome is Outcome.UNKNOWN  # White gets out on D17
    taken, enclosed = solve(open_side, ["D19"], within=within), solve(closed, ["D19"])
    assert {colour: (answer.outcome, answer.moves) for colour, answer in taken.answers.items()} == {
        colour: (answer.outcome, answer.moves) for colour, answer in enclosed.answers.items()
    }
    assert (taken.within, enclosed.within) == (frozenset(open_side.points(within)), None)
    assert "  if the group cannot get out" in describe(taken, open_side)
    with pytest.raises(UserError, match="no stone at A19"):
        solve(open_side, ["A19"], within=within)
    with pytest.raises(UserError, match="invalid point 9999"):
        solve(open_side, ["D19"], within=[9999])


def test_no_stone_outside_the_part_saves_an_enclosed_group() -> None:
    """A stone of the group's colour beside the part may itself be captured, as one that White has just played."""
    game = Game(19)
    game.set_up(["E18", "C17", "A17", "B17", "E19"], ["D19", "D18", "C18", "B18", "A18", "D16"])
    answers = solve(game, ["D19"], within="A19 B19 C19 D19 D18 C18 B18 A18 D17").answers
    assert [answers[colour].outcome for colour in (BLACK, WHITE)] == [Outcome.DIES, Outcome.LIVES]
    assert answers[WHITE].moves == (game.point("B19"),)


def test_a_reading_can_be_stopped() -> None:
    stop = threading.Event()
    stop.set()
    game = position(SHAPES["bulky five"][0])
    assert solve(game, ["D7"], seconds=60, stop=stop).status == "unknown"


@pytest.mark.parametrize(
    ("points", "seconds", "message"),
    [
        ("A1", 1, "no stone at A1"),
        ("D7 E7", 1, "stones of one colour are needed: name those of one group"),
        ("D7", -1, "invalid number of seconds -1"),
    ],
)
def test_what_cannot_be_read_is_refused_at_once(
    points: str, seconds: float, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solution, "prepare", lambda *arguments: pytest.fail("it compiles"))
    with pytest.raises(UserError, match=message):
        solve(position(SHAPES["bulky five"][0]), points, seconds=seconds)


def test_a_record_is_not_a_position() -> None:
    with pytest.raises(UserError, match=r"invalid game .*: expected a Game, as GameRecord.to_game\(\) returns it"):
        solve(GameRecord(9, 9), "D7")  # type: ignore[arg-type]


RECORD = "(;SZ[7]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab];B[ba])"


def test_the_command_reads_problems(tmp_path: Path) -> None:
    file = tmp_path / "problem.sgf"
    file.write_text(RECORD)
    for arguments in (["D7"], []):
        done = CliRunner().invoke(main, ["solve", str(file), *arguments])
        assert done.exit_code == 0
        assert "Black to move: it dies with B7" in done.output
    file.write_text("(;SZ[9]AB[ea][eb][ec][ed][dd][bd][ad]AW[da][db][dc][bc][ac])")
    done = CliRunner().invoke(main, ["solve", str(file), "--seconds", "0.3"])
    assert done.exit_code == 1 and "the group that is meant was not found: name a stone" in done.stderr
    file.write_text(RECORD)
    done = CliRunner().invoke(main, ["solve", str(file), "--at", "1", "D7"])
    assert "White's 5 stones at D7: dead" in done.output
    for arguments, message in ((["A1"], "no stone at A1"), (["--at", "2"], "no move 2"), (["K99"], "K99")):
        done = CliRunner().invoke(main, ["solve", str(file), *arguments])
        assert done.exit_code == 1 and message in done.stderr


def test_a_collection_is_solved_game_by_game(tmp_path: Path) -> None:
    file, sgf, data = (tmp_path / name for name in ("problems.sgf", "out.sgf", "out.json"))
    file.write_text(RECORD + "(;SZ[9])" + RECORD)
    arguments = ["solve", str(file), "--tree", "--sgf", str(sgf), "--json", str(data)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1  # because of the second game
    assert done.output.count("dies with B7") == 2 and f"{file}, game 3\n" in done.output
    assert f"{file}, game 2: no group is enclosed" in done.stderr
    assert "    A7 B7: it lives\n" in done.output
    first, second = read_sgf_games(sgf)
    assert (second.to_game(0).stones() == position(SHAPES["straight three"][0]).stones()).all()
    wrong = next(node for node in first.root.children if "BM" in node.properties)
    assert wrong.comment == "it lives" and wrong.next is not None and wrong.next.move is not None
    answer = json.loads(data.read_text())["groups"][1]["answers"][0]
    assert answer["first"] == "black" and answer["tree"][0]["replies"][0]["move"] in ("A7", "C7")
    assert CliRunner().invoke(main, arguments).exit_code == 1  # the files exist
    done = CliRunner().invoke(main, ["solve", str(file), "--game", "3", "--json", "-"])
    assert done.exit_code == 0 and len(json.loads(done.stdout)["groups"]) == 1
    done = CliRunner().invoke(main, ["solve", str(file), "--game", "4"])
    assert "there is no game 4 that can be read" in done.stderr


def test_an_engine_solves() -> None:
    with Engine(EngineSettings("none", threads=1), width=7) as engine:
        engine.load(position(SHAPES["straight three"][0]))
        found = engine.solve(["D7"]).result()
        assert found.status == "unsettled" and PASS not in found.answers[WHITE].moves
