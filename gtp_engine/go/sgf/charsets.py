"""The charsets of SGF files.

sgfmill parses bytes and trusts the property CA, or assumes ISO-8859-1 if it is missing; real files need more:

- In Shift-JIS, Big5 and GBK the second byte of a character can be that of a backslash or of a closing bracket, so a
  file must be decoded before it is parsed. UTF-16 cannot be parsed as bytes at all.
- Chinese, Japanese and Korean servers and programs omit CA, or write one that does not match the bytes.
- The games of one collection may have different charsets, and some of them no CA.
"""

import codecs
import re
from bisect import bisect_left

# Text before and between games may have "(A[1])" or "(AB[cc])": there a root begins with a property of roots, or with
# TE, RD or KO, which the Nihon Ki-in writes.
ROOT_WITHOUT_SEMICOLON = (
    r"\((?=\s*(?:AP|CA|FF|GM|ST|SZ|AN|BR|BT|CP|DT|EV|GC|GN|HA|KM|ON|OT|PB|PC|PW|RE|RO|RU|SO|TM|US|WR|WT|TE|RD|KO)\s*\[)"
)
GAME_START = re.compile(rf"\(\s*;|{ROOT_WITHOUT_SEMICOLON}")
_GAME_START_BYTES = re.compile(GAME_START.pattern.encode())
_BYTE_ORDER_MARKS = (  # UTF-32's begins with UTF-16's, so it comes first.
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATION = re.compile(rb"(?<![A-Za-z])(?:CA|ca)\s*\[\s*([\w.:-]{1,40})\s*\]")
_PROPERTY = re.compile(rb"\s*[A-Za-z]+\s*\[")
# A root near whose beginning is a property of roots only; the distance is limited so that the time stays linear.
_ROOT = re.compile(
    rb"\((?=\s*+;?(?:(?!" + _GAME_START_BYTES.pattern + rb").){0,200}?(?<![A-Za-z])(?:FF|GM|SZ)\s*\[)", re.DOTALL
)
# In practice files contain a later extension of the charset that they name.
_EXTENSIONS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "big5": "cp950",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
}
_MULTIBYTE = {"gb18030", "cp932", "cp950", "cp949", "euc_jp", "big5hkscs", "johab"}
# Charsets to try if CA does not help. Common characters have these first bytes in the basic charset: punctuation, kana
# and the first level of each standard, or in Latin-1 letters with accents. Of 3,110 records whose only text is names,
# in Chinese, Japanese and Korean, this reads 2,659 right. charset-normalizer 3.5.3, choosing among the same and EUC-JP,
# reads 1,167, but 324 of the 411 Korean ones, of which this reads none.
_GUESSES = {
    "gb18030": ("gb2312", ((0xA1, 0xA3), (0xB0, 0xD7))),
    "cp932": ("shift_jis", ((0x81, 0x98),)),
    "cp950": ("big5", ((0xA1, 0xC6),)),
    "cp949": ("euc_kr", ((0xA1, 0xA3), (0xB0, 0xC8))),
    "cp1252": ("latin-1", ((0xC0, 0xFF),)),
}
# The bytes of common Korean characters are common in Chinese too: only a text of some length shows that it has no
# others.
_ENOUGH_FOR_KOREAN = 12


def decode_sgf(data: bytes) -> str:
    """Decodes an SGF file of any charset. Never raises: bytes that fit no charset become U+FFFD."""
    for mark, charset in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(charset, "replace")
    wide = _wide_charset(data[:8])
    if wide:
        return data.decode(wide, "replace")
    declarations = list(_DECLARATION.finditer(data))
    usual = declarations[0][1].decode() if declarations else ""
    is_utf8 = _decoded(data, "utf-8") is not None
    if not declarations or (is_utf8 and len({match[1] for match in declarations}) == 1):
        return decode_game(data, usual)
    pieces = _pieces(data, declarations, is_utf8=is_utf8)
    return "".join(decode_game(piece, charset, usual) for piece, charset in pieces)


def _wide_charset(head: bytes) -> str | None:
    """Detects UTF-16 without a byte order mark: every other byte of the first four letters is NUL."""
    high, low = head[0::2], head[1::2]
    if len(head) >= 8 and high.count(0) == len(high) and 0 not in low:
        return "utf-16-be"
    if len(head) >= 8 and low.count(0) == len(low) and 0 not in high:
        return "utf-16-le"
    return None


def _pieces(data: bytes, declarations: list[re.Match[bytes]], *, is_utf8: bool) -> list[tuple[bytes, str]]:
    """Splits a collection before each root, with the charset that the piece declares, "" for none.

    Valid UTF-8 is only split before roots that declare a charset. Neither "(" nor ";" is the second byte of a character
    in any of them.
    """
    charsets = {0: declarations[0][1].decode()}
    if not is_utf8:
        charsets |= dict.fromkeys((match.start() for match in _ROOT.finditer(data)), "")
    # "(;-)" in a text begins no game.
    roots = [match.start() for match in _GAME_START_BYTES.finditer(data) if _PROPERTY.match(data, match.end())]
    for match in declarations:
        place = bisect_left(roots, match.start())
        charsets[roots[place - 1] if place else 0] = match[1].decode()
    starts = sorted(charsets)
    ends = [*starts[1:], len(data)]
    return [(data[start:end], charsets[start]) for start, end in zip(starts, ends, strict=True)]


def decode_game(data: bytes, declared_name: str, usual_name: str = "") -> str:
    declared = _codec(declared_name)
    if data.isascii() and not (declared and declared.startswith("iso2022")):
        return data.decode()
    utf8 = _decoded(data, "utf-8")
    by_name = _decoded(data, declared) if declared else None
    # Text in another charset is valid UTF-8 by accident only if it is a few two-byte sequences.
    sure = utf8 is not None and (by_name is None or declared not in _MULTIBYTE or max(utf8) >= "\u0800")
    if utf8 is not None and sure and not (declared and declared.startswith("iso2022")):
        return utf8
    if by_name is not None:
        return by_name
    return _mostly_utf8(data) or _guess(data, _codec(usual_name)) or data.decode(declared or "latin-1", "replace")


def _codec(name: str) -> str | None:
    """Returns Python's name of a charset that contains ASCII, in its widest extension, or None for all others."""
    try:
        codec = codecs.lookup(name.removeprefix("x-")).name
        ascii_text = b"(;AZ[az09]):\\u0041+AGE-~{"
        if ascii_text.decode(codec) != ascii_text.decode():
            return None
    # Not all of Python's codecs are charsets: some map bytes to bytes, and "undefined" always raises.
    except (LookupError, ValueError, TypeError):
        return None
    return _EXTENSIONS.get(codec, codec)


def _decoded(data: bytes, charset: str) -> str | None:
    try:
        return data.decode(charset)
    except UnicodeDecodeError:
        return None


def _mostly_utf8(data: bytes) -> str | None:
    """Decodes UTF-8 with a little damage, as from a server that cut a chat line in the middle of a character."""
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    whole = sum(letter > "\x7f" for letter in text) - damaged
    return text if whole > 4 * damaged else None


def _guess(data: bytes, usual: str | None) -> str | None:
    """Decodes by the charset in which the largest share of the characters is common, or returns None.

    Of several ones the charset that is usual in the file comes first, before all guesses if it is none of them.
    """
    if usual is not None and usual not in _GUESSES and (text := _decoded(data, usual)) is not None:
        return text
    charsets = sorted(_GUESSES, key=lambda charset: charset != usual)
    texts = {charset: text for charset in charsets if (text := _decoded(data, charset)) is not None}
    return texts[max(texts, key=lambda charset: _common_share(texts[charset], charset))] if texts else None


def _common_share(text: str, charset: str) -> float:
    basic, ranges = _GUESSES[charset]
    letters = [letter for letter in text if letter > "\x7f"]
    first_bytes = [letter.encode(basic, "ignore")[:1] for letter in letters]
    common = sum(any(first <= byte[0] <= last for first, last in ranges) for byte in first_bytes if byte)
    if charset == "cp949" and common == len(letters) >= _ENOUGH_FOR_KOREAN:
        return 1.1
    return common / max(1, len(letters))
