"""The ruleset, by name and by parts as KataGo names them."""

from ...game.rules import parse_rules, with_part
from ..arguments import SYNTAX_ERROR, expect
from ..protocol import GtpError
from ..registry import command
from ..session import Session


@command("kata-get-rules")
def kata_get_rules(session: Session, arguments: list[str]) -> str:
    return session.engine.rules.to_json()


@command("kata-set-rules")
def kata_set_rules(session: Session, arguments: list[str]) -> None:
    """A name or KataGo's JSON, which may hold blanks."""
    if not arguments:
        raise GtpError(SYNTAX_ERROR, "expected the name of a ruleset or a JSON object")
    session.engine.set_rules(parse_rules(" ".join(arguments)))


@command("kata-set-rule")
def kata_set_rule(session: Session, arguments: list[str]) -> None:
    expect(arguments, 2)
    session.engine.set_rules(with_part(session.engine.rules, arguments[0], arguments[1]))


@command("kgs-rules")
def kgs_rules(session: Session, arguments: list[str]) -> None:
    """As kata-set-rules; KGS plays its Chinese rules with positional superko."""
    expect(arguments, 1)
    chinese = arguments[0].lower() == "chinese"
    session.engine.set_rules(parse_rules("chinese-kgs" if chinese else arguments[0]))
