"""From the bytes of an SGF file to sgfmill's game trees.

First they are decoded (`charsets`). Then sgfmill's tokeniser is used as it is, on UTF-8. Five things that it does not
handle are corrected before:

- Cyberoro and the Nihon Ki-in omit the ";" of the root node.
- Cyberoro closes variations that it has not opened: they are left out, which the record says.
- Property names with digits, which LizzieYzy writes (LZ2, LZOP2), have other names while sgfmill parses the file.
- Property names entirely in lower case: sgfmill drops lower-case letters (FF[3] has "AddBlack" for AB), so that nothing
  would be left of them, and the game would appear to be empty.
- NULs that pad a file, and non-ASCII characters outside values (ideographic spaces, stray byte order marks).

Five kinds of damage are repaired, which the record then says: a missing parenthesis at the beginning of a game, as in
files from Fox; one that closes a game although moves follow; brackets in a text without the backslash that they need,
if the rest of the file is SGF after only one of them; a single backslash at the end of a text without brackets, if a
property follows immediately; and punctuation alone between properties. Any other damage (a file cut short, brackets
that do not match) is an error; nothing is guessed.
"""

import codecs
import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from sgfmill import sgf_grammar

from ...base.errors import UserError
from ...base.languages.texts import Phrase
from .charsets import GAME_START, ROOT_WITHOUT_SEMICOLON, decode_sgf
from .other_formats import as_sgf

# Nodes of a game, with all its variations. Each takes about 1.4 kB of memory while it is read.
MOST_NODES = 300_000
_FIRST_ROOT_WITHOUT_SEMICOLON = re.compile(r"\A\s*\((?=\s*[A-Z][A-Za-z]*\s*\[)")
_UNOPENED_ROOT = re.compile(rb"\s*+;\s*+(?:AP|CA|FF|GM|SZ)\s*+\[")
# What may follow a value, apart from characters that are skipped there.
_SKIPPED = r"(?> [^A-Za-z0-9()\[\];]*+ )"
_NAME = r"[A-Za-z][A-Za-z0-9]*+ [\s\u0080-\U0010ffff]*+ \["
_GOES_ON = rf"""
    (?= {_SKIPPED} (?: \Z | [\[)] | {_NAME} | \( {_SKIPPED} (?: ; | {_NAME} )
                      | ; {_SKIPPED} (?: \Z | [;()] | {_NAME} ) ) )
"""
_ANY_VALUE = r"\[ (?> [^\\\]]+ | \\. | \\\Z )*+ (?: \] | \Z )"
# Cyberoro's form of a variation: a title, the move from which it differs, and moves up to an unopened parenthesis. One
# after which the game does not go on is that of the game, as other programs write it.
_REFERENCE = rf"""
    (?<![A-Za-z]) RN \s*+ {_ANY_VALUE} \s*+ PT (?=\s*+\[)
    (?> {_ANY_VALUE} | [^()] | \( (?> {_ANY_VALUE} | [^()] )*+ \)?+ )*+ (?: \) (?= \s*+ [A-Z;)] ) )?+
"""
# After a variation only another one may begin. A game that ends with variations is complete, whatever follows it.
_EARLY = r"(?<=\]) \) (?= \s*+ ; \s*+ [BW] \s*+ \[ )"
# Values match as a whole, so that nothing inside them is corrected; one that is never closed extends to the end. A
# value that the file does not go on after has brackets that should be escaped: it extends over pairs of them, or to the
# first closing bracket after which the file goes on. Possessive quantifiers and atomic groups keep the time linear for
# any input.
_VALUE_OR_CORRECTION = re.compile(
    rf"""
    (?P<backslash> \[ (?> [^\\\[\]]+ | \\[^\]] )*+ \\\] (?= [\r\n]*+ ;? [\r\n]*+ [A-Z]{{1,2}} \[ ) )
    | (?P<value> \[ (?> [^\\\]]+ | \\. | \\\Z )*+ (?: \] {_GOES_ON} | \Z ) )
    | (?P<unescaped>
        \[ (?> [^\\\[\]]+ | \\. | \[ (?> [^\\\[\]]+ | \\. )*+ \] )*+ \] {_GOES_ON}
        | \[ (?> [^\\\]]+ | \\. )*+ \] (?: (?> [^\\\[\]]+ | \\. )*+ \] )+? {_GOES_ON} )
    | (?P<damaged> \[ (?> [^\\\]]+ | \\. )*+ \] )
    | (?P<root> {ROOT_WITHOUT_SEMICOLON} )
    | (?P<reference> {_REFERENCE} )
    | (?P<early> {_EARLY} )
    | (?<![A-Za-z0-9]) (?: (?P<lower_case> [a-z]+ ) | (?P<with_digits> [A-Za-z]++ [0-9] [A-Za-z0-9]*+ ) )
      (?= [\s\u0080-\U0010ffff]*+ \[ )
    | (?P<stray> (?<=\]) [^!-~]*+ [^A-Za-z0-9\s()\[\];\x7f-\U0010ffff]++ {_SKIPPED} )
    | [^\x00-\x7f]+
    """,
    re.VERBOSE | re.DOTALL,
)
_CORRECTED_GAME_START = re.compile(rb"\(\s*;")
# A bracket, or what has brackets that do not count.
_BRACKET = re.compile(rf"{_ANY_VALUE} | {_REFERENCE} | (?P<early> {_EARLY} ) | [()]", re.VERBOSE | re.DOTALL)
_LEFT_OUT = "\v"  # in the place of an early bracket: a space to the tokeniser
# A value, a node or a bracket; or what is not part of a game, where the tokeniser stops, too.
_TOKEN_OR_END = re.compile(
    rb"\[ (?> [^\\\]]+ | \\. )*+ \] | [;()] | (?<=\]) \v | (?P<end> [^A-Za-z\s] )", re.VERBOSE | re.DOTALL
)
_UNESCAPED = re.compile(r"\\.|\]", re.DOTALL)  # or what is escaped
# What to say of groups of _VALUE_OR_CORRECTION.
_REPAIRS = {
    "unescaped": "record.unescaped",
    "backslash": "record.backslash",
    "stray": "record.stray",
    "reference": "record.reference",
    "early": "record.early",
}
_MOST_REPAIRS = 10_000  # that are remembered of a file: any more tell nobody anything
_LETTERS = str.maketrans("0123456789", "ABCDEFGHIJ")


def split_games(content: bytes) -> list[bytes]:
    """Returns the games of a file of any charset, each as a file in UTF-8, without reading them.

    That takes 0.3 s for 10,000 games of 150 bytes. A game that is not closed extends to the end.
    """
    text, games, position = _text(_opened(content)), list[bytes](), 0
    while start := GAME_START.search(text, position):
        depth, position = 0, len(text)
        for bracket in _BRACKET.finditer(text, start.start()):
            depth += 0 if bracket["early"] else {"(": 1, ")": -1}.get(bracket[0], 0)
            if not depth:
                position = bracket.end()
                break
        game = text[start.start() : position]
        if "[" in game:  # "(;-)" is a smiley
            games.append(codecs.BOM_UTF8 + game.encode("utf-8", "replace"))
    return games


class ParsedGame(NamedTuple):
    """A game of a file."""

    tree: sgf_grammar.Coarse_game_tree  # with raw values, in UTF-8
    repairs: tuple[Phrase, ...]  # what was wrong in the file and could only mean one thing


def parse_games(content: bytes, most_nodes: int | None = None) -> Iterator[ParsedGame]:
    """Yields the games of a file of any charset, in SGF or in one of `other_formats`; text between them is skipped.

    Raises:
        UserError: A game cannot be read, or has more nodes than `most_nodes` (`MOST_NODES` if None). This ends the
            iteration.
    """
    opened = _opened(content)
    corrected, corrections = _normalised(_text(opened))
    if opened is not content:
        corrections.note("record.unopened")
    data = corrected.encode("utf-8", "replace")
    most = MOST_NODES if most_nodes is None else most_nodes
    position, is_large = 0, data.count(b";") > most
    while start := _CORRECTED_GAME_START.search(data, position):
        if is_large:
            _check_size(data, start.start(), most)
        corrections.pass_over(data[position : start.start()])
        position = start.start()
        tokens, end = sgf_grammar.tokenise(data, position)
        repairs = corrections.pass_over(data[position:end])
        # "(;" without any SGF after it is a smiley in a signature: "(;-)".
        if len(tokens) > 2:
            _check_end(tokens, data, position, end)
            try:
                tree = sgf_grammar.parse_sgf_game(data[position:end])
            except ValueError as error:
                _check_order(data, position, end)
                raise UserError(str(error)) from error
            corrections.rename(tree)
            yield ParsedGame(tree, repairs)
        position = end


def _opened(content: bytes) -> bytes:
    """Returns a file with the bracket that opens its game, if only that is missing."""
    text = content.removeprefix(codecs.BOM_UTF8)
    return b"(" + text if _UNOPENED_ROOT.match(text) and text.rstrip().endswith(b")") else content


def _text(content: bytes) -> str:
    """Returns the text of a file, as SGF."""
    converted = as_sgf(content)
    return decode_sgf(content) if converted is None else converted


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


def _normalised(text: str) -> tuple[str, "_Corrections"]:
    """Returns the corrected text, and what was corrected."""
    text = _FIRST_ROOT_WITHOUT_SEMICOLON.sub("(;", text.replace("\0", ""))
    start = GAME_START.search(text)
    if start is None:
        return "", _Corrections(0)
    # Text before the game may contain an unclosed bracket. Its line breaks stay, so that messages count lines right.
    lines = text.count("\n", 0, start.start())
    corrections = _Corrections(lines)
    return "\n" * lines + _VALUE_OR_CORRECTION.sub(corrections.correct, text[start.start() :]), corrections


class _Corrections:
    """Corrects a text before sgfmill parses it, and knows afterwards which game was repaired."""

    def __init__(self, lines: int) -> None:
        """Begins with so many lines that the corrected text has before the text."""
        self._stand_ins: dict[str, str] = {}  # of names with digits, by the names in the file
        self._found: deque[tuple[int, str]] = deque()  # where the corrected text was repaired, and what
        self._moved = lines  # by how many characters the corrected text is ahead
        self._passed = self._lines = 0  # characters and lines of the corrected text before a game

    def note(self, name: str) -> None:
        """Keeps what has been repaired at the beginning of the text."""
        self._found.appendleft((0, name))

    def correct(self, match: re.Match[str]) -> str:
        """Returns what takes the place of a match of `_VALUE_OR_CORRECTION`."""
        made = self._corrected(match)
        if match.lastgroup in _REPAIRS and len(self._found) < _MOST_REPAIRS:
            lines = match[0][: -len(match[0].lstrip())].count("\n")  # before what is left out
            self._found.append((match.start() + self._moved + lines, _REPAIRS[match.lastgroup]))
        self._moved += len(made) - len(match[0])
        return made

    def _corrected(self, match: re.Match[str]) -> str:
        found = match[0]
        match match.lastgroup:
            case "value" | "damaged":
                return found
            case "unescaped":
                return f"[{_UNESCAPED.sub(_escape, found[1:-1])}]"
            case "backslash":
                return f"{found[:-1]}\\]"
            case "root":
                return "(;"
            case "lower_case":
                return found.upper()
            case "with_digits":
                number = str(len(self._stand_ins)).translate(_LETTERS)
                return self._stand_ins.setdefault(found, f"NAMEWITHDIGITS{number}")
            case "early":
                return _LEFT_OUT
        return "\n" * found.count("\n") + " "

    def pass_over(self, data: bytes) -> tuple[Phrase, ...]:
        """Goes on in the corrected text behind a part of it; returns what was repaired there, each kind once."""
        if not self._found:
            return ()
        text, said = data.decode(), dict[str, Phrase]()
        while self._found and self._found[0][0] < self._passed + len(text):
            place, name = self._found.popleft()
            line = self._lines + text.count("\n", 0, place - self._passed) + 1
            said.setdefault(name, Phrase(name, {"line": str(line)}))
        self._passed += len(text)
        self._lines += text.count("\n")
        return tuple(said.values())

    def rename(self, tree: sgf_grammar.Coarse_game_tree) -> None:
        """Gives the properties of a tree the names in the file."""
        names = {stand_in: name for name, stand_in in self._stand_ins.items()}
        waiting = [tree] if names else []
        while waiting:
            branch = waiting.pop()
            branch.sequence = [
                {names.get(name, name): values for name, values in properties.items()} for properties in branch.sequence
            ]
            waiting.extend(branch.children)


def _escape(match: re.Match[str]) -> str:
    return "\\]" if match[0] == "]" else match[0]


def _check_end(tokens: list[tuple[str, bytes]], data: bytes, start: int, end: int) -> None:
    """Raises UserError unless the game is closed; sgfmill alone reports only an unexpected end."""
    missing = tokens.count(("D", b"(")) - tokens.count(("D", b")"))
    if not missing:
        return
    line, rest = _rest(data, end)
    if not rest:
        _check_order(data, start, end)
        raise UserError(Phrase("error.cut", {"number": missing}))
    if rest.startswith("["):
        raise UserError(f"line {line}: the file ends inside a value, its closing bracket is missing")
    raise UserError(f"line {line}: unexpected {rest!r}")


def _check_order(data: bytes, start: int, end: int) -> None:
    """Raises UserError if a part of a game stands where it may not."""
    depth, before, position = 0, b"", start
    for found in _TOKEN_OR_END.finditer(data, start, end):
        name, token = data[position : found.start()].strip(), found[0][:1]
        if token == b"\v" and depth == 1:
            continue  # an early bracket, after which the main line continues
        token = b")" if token == b"\v" else token
        wrong = ""
        if before == b")" and token not in b"()":
            wrong = "after a variation only another one may begin"
        elif before == b"(" and token != b";":
            wrong = "a variation begins with ';'"
        elif name and token != b"[":
            wrong = "a property without a value"
        elif token == b"[" and not name and before != b"[":
            wrong = "a value without a property"
        if wrong:
            line, rest = _rest(data, position)
            raise UserError(f"line {line}: unexpected {rest!r}: {wrong}")
        depth += {b"(": 1, b")": -1}.get(token, 0)
        before, position = token, found.end()


def _rest(data: bytes, position: int) -> tuple[int, str]:
    """Returns the line number and the beginning of the text at a position, without leading spaces."""
    rest = data[position:].lstrip()
    shown = rest[:20].decode("utf-8", "replace").replace(_LEFT_OUT, ")")
    return data[: len(data) - len(rest)].count(b"\n") + 1, shown
