"""From the text of an SGF file to sgfmill's game trees.

sgfmill's tokeniser is used as it is, on UTF-8. Before it three things are set right that it does not know:

- Cyberoro and the Nihon Ki-in leave out the ";" of the root node.
- Names wholly in lower case: sgfmill drops lower-case letters (FF[3] has "AddBlack" for AB), so that nothing is left of
  them and the game would read as an empty one.
- NULs that pad a file, and characters outside values that are no ASCII (ideographic spaces, stray byte order marks).

What is damaged beyond that (a file cut short, brackets that do not match) is an error, never guessed at.
"""

import re
from collections.abc import Iterator

from sgfmill import sgf_grammar

_ROOT_WITHOUT_SEMICOLON = re.compile(r"\A\s*\((?=\s*[A-Z][A-Za-z]*\s*\[)")
# A value is passed over whole; one that is never closed reaches to the end.
_VALUE_OR_ODDITY = re.compile(
    r"\[(?>[^\\\]]+|\\.|\\\Z)*+(?:\]|\Z)  |  (?<![A-Za-z])[a-z]+(?=\s*\[)  |  [^\x00-\x7f]+", re.VERBOSE | re.DOTALL
)
_GAME_START = re.compile(r"\(\s*;")
_GAME_START_BYTES = re.compile(rb"\(\s*;")


def parse_games(text: str) -> Iterator[sgf_grammar.Coarse_game_tree]:
    """The games of a collection, one after the other; what stands between them is skipped.

    Values are raw, in UTF-8. Raises ValueError at a game that cannot be read, which ends the iteration.
    """
    data = _normalised(text).encode("utf-8", "replace")
    position = 0
    while start := _GAME_START_BYTES.search(data, position):
        tokens, position = sgf_grammar.tokenise(data, start.start())
        # "(;" and then nothing of SGF is a smiley in a signature: "(;-)".
        if len(tokens) > 2:
            _check_end(tokens, data, position)
            yield sgf_grammar.parse_sgf_game(data[start.start() : position])


def _normalised(text: str) -> str:
    text = _ROOT_WITHOUT_SEMICOLON.sub("(;", text.replace("\0", ""))
    start = _GAME_START.search(text)
    if start is None:
        return ""
    # Text before the game may hold a bracket that is never closed; its lines stay, for messages to count them.
    lines_before = "\n" * text.count("\n", 0, start.start())
    return lines_before + _VALUE_OR_ODDITY.sub(_set_right, text[start.start() :])


def _set_right(match: re.Match[str]) -> str:
    found = match[0]
    if found.startswith("["):
        return found
    return found.upper() if found.isascii() else " "


def _check_end(tokens: list[tuple[str, bytes]], data: bytes, position: int) -> None:
    """Raises ValueError unless the game is closed; sgfmill alone says only that it found an unexpected end."""
    missing = tokens.count(("D", b"(")) - tokens.count(("D", b")"))
    if not missing:
        return
    rest = data[position:].lstrip()
    line = data[: len(data) - len(rest)].count(b"\n") + 1
    if not rest:
        raise ValueError(f"the file ends before the game does: closing parentheses missing: {missing}")
    if rest.startswith(b"["):
        raise ValueError(f"line {line}: the file ends inside a value, its closing bracket is missing")
    raise ValueError(f"line {line}: unexpected {rest[:20].decode('utf-8', 'replace')!r}")
