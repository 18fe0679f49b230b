"""From the bytes of an SGF file to sgfmill's game trees.

First they are decoded (`charsets`). Then sgfmill's tokeniser is used as it is, on UTF-8. Four things that it does not
handle are corrected before:

- Cyberoro and the Nihon Ki-in omit the ";" of the root node.
- Property names with digits, which LizzieYzy writes (LZ2, LZOP2), have other names while sgfmill parses the file.
- Property names entirely in lower case: sgfmill drops lower-case letters (FF[3] has "AddBlack" for AB), so that nothing
  would be left of them, and the game would appear to be empty.
- NULs that pad a file, and non-ASCII characters outside values (ideographic spaces, stray byte order marks).

Any other damage (a file cut short, brackets that do not match) is an error; nothing is guessed.
"""

import codecs
import re
from collections.abc import Iterator
from functools import partial

from sgfmill import sgf_grammar

from ...base.errors import UserError
from ...base.languages.texts import Phrase
from .charsets import GAME_START, ROOT_WITHOUT_SEMICOLON, decode_sgf

# Nodes of a game, with all its variations. Each takes about 1.4 kB of memory while it is read.
MOST_NODES = 300_000
_FIRST_ROOT_WITHOUT_SEMICOLON = re.compile(r"\A\s*\((?=\s*[A-Z][A-Za-z]*\s*\[)")
# Values match as a whole, so that nothing inside them is corrected; one that is never closed extends to the end.
# Possessive quantifiers and atomic groups keep the time linear for any input.
_VALUE_OR_CORRECTION = re.compile(
    rf"""
    (?P<value> \[ (?> [^\\\]]+ | \\. | \\\Z )*+ (?: \] | \Z ) )
    | (?P<root> {ROOT_WITHOUT_SEMICOLON} )
    | (?<![A-Za-z0-9]) (?: (?P<lower_case> [a-z]+ ) | (?P<with_digits> [A-Za-z]++ [0-9] [A-Za-z0-9]*+ ) )
      (?= [\s\u0080-\U0010ffff]*+ \[ )
    | [^\x00-\x7f]+
    """,
    re.VERBOSE | re.DOTALL,
)
_CORRECTED_GAME_START = re.compile(rb"\(\s*;")
_BRACKET = re.compile(r"\[ (?> [^\\\]]+ | \\. | \\\Z )*+ (?: \] | \Z ) | [()]", re.VERBOSE | re.DOTALL)  # or a value
# A value, a node or a bracket; or what is not part of a game, where the tokeniser stops, too.
_TOKEN_OR_END = re.compile(rb"\[ (?> [^\\\]]+ | \\. )*+ \] | [;()] | (?P<end> [^A-Za-z\s] )", re.VERBOSE | re.DOTALL)
_LETTERS = str.maketrans("0123456789", "ABCDEFGHIJ")


def split_games(content: bytes) -> list[bytes]:
    """Returns the games of a file of any charset, each as a file in UTF-8, without reading them.

    That takes 0.3 s for 10,000 games of 150 bytes. A game that is not closed extends to the end.
    """
    text, games, position = decode_sgf(content), list[bytes](), 0
    while start := GAME_START.search(text, position):
        depth, position = 0, len(text)
        for bracket in _BRACKET.finditer(text, start.start()):
            depth += {"(": 1, ")": -1}.get(bracket[0], 0)
            if not depth:
                position = bracket.end()
                break
        game = text[start.start() : position]
        if "[" in game:  # "(;-)" is a smiley
            games.append(codecs.BOM_UTF8 + game.encode("utf-8", "replace"))
    return games


def parse_games(content: bytes, most_nodes: int | None = None) -> Iterator[sgf_grammar.Coarse_game_tree]:
    """Yields the games of a file of any charset; text between them is skipped.

    Values are raw, in UTF-8.

    Raises:
        UserError: A game cannot be read, or has more nodes than `most_nodes` (`MOST_NODES` if None). This ends the
            iteration.
    """
    corrected, names = _normalised(decode_sgf(content))
    data = corrected.encode("utf-8", "replace")
    most = MOST_NODES if most_nodes is None else most_nodes
    position, is_large = 0, data.count(b";") > most
    while start := _CORRECTED_GAME_START.search(data, position):
        if is_large:
            _check_size(data, start.start(), most)
        tokens, position = sgf_grammar.tokenise(data, start.start())
        # "(;" without any SGF after it is a smiley in a signature: "(;-)".
        if len(tokens) > 2:
            _check_end(tokens, data, position)
            try:
                tree = sgf_grammar.parse_sgf_game(data[start.start() : position])
            except ValueError as error:
                raise UserError(str(error)) from error
            if names:
                _rename(tree, names)
            yield tree


def _check_size(data: bytes, start: int, most: int) -> None:
    """Raises UserError if the game at `start` has more nodes, before its tokens take a hundred times its size."""
    nodes = depth = 0
    for found in _TOKEN_OR_END.finditer(data, start):
        nodes += found[0] == b";"
        if nodes > most:
            raise UserError(Phrase("error.nodes", {"number": most}))
        depth += {b"(": 1, b")": -1}.get(found[0], 0)
        if not depth or found["end"]:
            return


def _normalised(text: str) -> tuple[str, dict[str, str]]:
    """Returns the corrected text, and the names in the file by the names that stand in for them."""
    text = _FIRST_ROOT_WITHOUT_SEMICOLON.sub("(;", text.replace("\0", ""))
    start = GAME_START.search(text)
    if start is None:
        return "", {}
    # Text before the game may contain an unclosed bracket. Its line breaks stay, so that messages count lines right.
    lines_before = "\n" * text.count("\n", 0, start.start())
    stand_ins: dict[str, str] = {}  # by the names in the file
    corrected = _VALUE_OR_CORRECTION.sub(partial(_correct, stand_ins=stand_ins), text[start.start() :])
    return lines_before + corrected, {stand_in: name for name, stand_in in stand_ins.items()}


def _correct(match: re.Match[str], stand_ins: dict[str, str]) -> str:
    found = match[0]
    if match.lastgroup == "value":
        return found
    if match.lastgroup == "root":
        return "(;"
    if match.lastgroup == "lower_case":
        return found.upper()
    if match.lastgroup == "with_digits":
        number = str(len(stand_ins)).translate(_LETTERS)
        return stand_ins.setdefault(found, f"NAMEWITHDIGITS{number}")
    return " "


def _rename(tree: sgf_grammar.Coarse_game_tree, names: dict[str, str]) -> None:
    """Gives the properties of a tree the names in the file."""
    waiting = [tree]
    while waiting:
        branch = waiting.pop()
        branch.sequence = [
            {names.get(name, name): values for name, values in properties.items()} for properties in branch.sequence
        ]
        waiting.extend(branch.children)


def _check_end(tokens: list[tuple[str, bytes]], data: bytes, position: int) -> None:
    """Raises UserError unless the game is closed; sgfmill alone reports only an unexpected end."""
    missing = tokens.count(("D", b"(")) - tokens.count(("D", b")"))
    if not missing:
        return
    rest = data[position:].lstrip()
    line = data[: len(data) - len(rest)].count(b"\n") + 1
    if not rest:
        raise UserError(Phrase("error.cut", {"number": missing}))
    if rest.startswith(b"["):
        raise UserError(f"line {line}: the file ends inside a value, its closing bracket is missing")
    raise UserError(f"line {line}: unexpected {rest[:20].decode('utf-8', 'replace')!r}")
