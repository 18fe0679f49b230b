"""An opponent who mirrors every move: when it is noticed, and what the search then looks at."""

import numpy as np
import pytest
from searching import run, search_of

from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, opponent, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.search.mirror import mirroring_opponent
from gtp_engine.search.request import Limits
from gtp_engine.search.search import Search


def mirrored(size: int, answers: int, *, tengen: bool = False) -> Game:
    """A game in which each of the first moves is answered by its mirror image, after a black stone in the centre."""
    game = Game(size)
    if tengen:
        game.play(BLACK, point_of_index(size * size // 2, size, size))
    for index in range(answers):
        for number in (2 * index, size * size - 1 - 2 * index):
            game.play(game.to_move, point_of_index(number, size, size))
    return game


@pytest.mark.parametrize("tengen", [False, True])
@pytest.mark.parametrize("size", [9, 10, 19])
def test_a_player_who_mirrors_is_noticed_until_it_stops(size, tengen):
    tengen = tengen and size % 2 == 1
    assert mirroring_opponent(mirrored(size, 4, tengen=tengen)) == EMPTY
    game = mirrored(size, 7, tengen=tengen)
    assert mirroring_opponent(game) == (BLACK if tengen else WHITE) == opponent(game.to_move)
    for point in ("C5", "C6"):
        game.play(game.to_move, point)
    assert mirroring_opponent(game) == EMPTY


def test_passes_and_other_boards_are_no_mirror_play():
    game = Game(9, 7)
    assert mirroring_opponent(game) == EMPTY
    for _ in range(20):
        game.play(game.to_move, PASS)
    assert mirroring_opponent(game) == EMPTY


def children(search: Search, node: int) -> dict[int, int]:
    """The visits of a node's moves."""
    nodes = search.tree.nodes
    found, child = {}, nodes[node]["first_child"]
    while child >= 0:
        found[int(nodes[child]["move"])] = int(nodes[child]["visits"])
        child = nodes[child]["next_sibling"]
    return found


@pytest.mark.parametrize("anti_mirror", [False, True])
def test_the_opponent_is_expected_to_mirror_and_the_centre_is_tried(anti_mirror):
    search = search_of(mirrored(9, 7), anti_mirror=anti_mirror)
    run(search, Limits(visits=600))
    if anti_mirror:
        assert children(search, search.root)[40] >= 0.05 * 600
    best = max(search.children(), key=lambda child: search.tree.nodes["visits"][child])
    answers, move = children(search, best), int(search.tree.nodes["move"][best])
    share = answers.get(80 - move, 0) / sum(answers.values())
    assert (share >= 0.4) == anti_mirror


def test_without_a_mirror_the_search_is_the_same():
    reports = []
    for anti_mirror in (False, True):
        search = search_of(mirrored(9, 3), anti_mirror=anti_mirror)
        reports.append(run(search, Limits(visits=200)))
    assert reports[0].moves == reports[1].moves and np.array_equal(reports[0].priors, reports[1].priors)
