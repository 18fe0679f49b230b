"""Types of option values that are names: networks, rulesets, profiles. Shells complete them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..base.errors import UserError

if TYPE_CHECKING:
    from ..game.rules import Rules


class NetworkName(click.ParamType):
    """The name or the file of a network, or of an evaluator without a file; it is looked for when it is loaded."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Returns the names that begin so; if there is none, the shell completes file names."""
        from ..evaluate.choices import AUTO, ROLLOUTS
        from ..network.library import list_networks, network_name

        names = [AUTO, ROLLOUTS, *sorted({network_name(path) for path in list_networks()})]
        return _beginning_with(incomplete, names) or [CompletionItem(incomplete, type="file")]


class RulesName(click.ParamType):
    """The name of a ruleset, or its parts in KataGo's JSON."""

    name = "rules"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Rules":
        from ..game.rules import parse_rules

        try:
            return parse_rules(str(value))
        except UserError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from ..game.rules import RULESETS

        return _beginning_with(incomplete, RULESETS)


class Profile(click.ParamType):
    """The human style that a network imitates (`evaluate.human_profile`)."""

    name = "profile"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from ..evaluate.human_profile import profile_name

        try:
            return profile_name(str(value))
        except UserError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Returns ranks and the stems of the other profiles."""
        ranks = [f"{kyu}k" for kyu in range(20, 0, -1)] + [f"{dan}d" for dan in range(1, 10)]
        return _beginning_with(incomplete, [*(f"rank_{rank}" for rank in ranks), "preaz_5k", "proyear_1990"])


class SavedGameName(click.ParamType):
    """The name of a saved game, or a file with one; it is looked for when it is opened."""

    name = "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Returns the games in the folder of saved games; if none begins so, the shell completes file names."""
        from ..base.files import files_with
        from ..base.folders import games_dir

        folder = ctx.params.get("sgf_dir") or games_dir()
        names = [path.name for path in reversed(files_with((".sgf",), folder))]
        return _beginning_with(incomplete, names) or [CompletionItem(incomplete, type="file")]


def _beginning_with(incomplete: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
