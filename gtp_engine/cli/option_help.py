"""How an option is described, in the help and in the documentation."""

import re

import click

# Names with one hyphen and several letters are accepted for KataGo's sake, and not shown.
_KATAGO_STYLE = re.compile(r"(?<!-)-\w[\w-]+, ")


def metavar(option: click.Option) -> str | None:
    """Returns what stands for an option's value in the help: one word for each kind; None for click's own choice."""
    kind = option.type
    if option.is_flag:
        return None
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        return "N"
    if isinstance(kind, click.Path):
        return "FILE" if not kind.dir_okay else "PATH" if kind.file_okay else "FOLDER"
    return "TEXT" if isinstance(kind, click.types.StringParamType) else None


def description(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """Returns an option's names, and its text with default, range and environment variable."""
    extra = option.get_help_extra(ctx)
    default = extra.get("default")
    if option.default is False and str(default).startswith("no-"):
        default = None  # the name of the option says enough
    if isinstance(option.show_default, str):  # a description of the default, which click puts in parentheses
        own = (ctx.default_map or {}).get(option.name or "", option.show_default)
        default = ", ".join(own) if isinstance(own, list) else str(own)
    facts = [f"default: {default}"] if default else []
    if (low := getattr(option.type, "min", None)) is not None and (high := getattr(option.type, "max", None)):
        facts.insert(0, f"{low:g} to {high:g}")
    if option.envvar:
        facts.append(f"env: {option.envvar}")
    record = option.get_help_record(ctx)
    assert record is not None
    text = option.help or ""
    return _KATAGO_STYLE.sub("", record[0]), f"{text}  [{'; '.join(facts)}]" if facts else text
