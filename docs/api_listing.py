"""The reference of the Python API, made from signatures and docstrings; `generate_reference.py` writes it."""

import enum
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import gtp_engine

# Their fields are in a table of another page.
ELSEWHERE = {"SearchParameters": "[Search parameters](reference.md#search-parameters)"}
SECTIONS = {
    "Args": "Arguments",
    "Attributes": "Attributes",
    "Returns": "Returns",
    "Yields": "Yields",
    "Raises": "Raises",
}
WIDTH = 100  # of a signature on one line


def api() -> str:
    """Returns an entry for each public name: classes, then functions, then values, each in alphabetical order."""
    public = {name: getattr(gtp_engine, name) for name in sorted(gtp_engine.__all__)}
    classes = {name: value for name, value in public.items() if isinstance(value, type)}
    functions = {name: value for name, value in public.items() if inspect.isfunction(value)}
    values = {name: value for name, value in public.items() if name not in classes | functions}
    parts = ["## Classes", *(entry for name, kind in classes.items() for entry in class_entries(name, kind))]
    parts += ["## Functions", *(function_entry("###", name, function) for name, function in functions.items())]
    parts += ["## Values", "\n".join(value_entry(name, value) for name, value in values.items())]
    return "\n\n".join(parts)


def class_entries(name: str, kind: type[Any]) -> Iterator[str]:
    """Yields the entry of a class, of its members or properties, and of each method."""
    yield f"### {name}"
    if name in ELSEWHERE:
        text = inspect.cleandoc(kind.__doc__ or "").partition("\nAttributes:")[0]
        yield f"{text.strip()} Its fields: {ELSEWHERE[name]}."
    else:
        if not issubclass(kind, Exception | enum.Enum):
            yield signature(name, kind)
        yield from filter(
            None, (text_of(kind), text_of(kind.__init__) if "Args:" in (kind.__init__.__doc__ or "") else "")
        )
    if issubclass(kind, enum.Enum):
        yield "\n".join(f"- `{name}.{member.name}`" for member in kind)
    members = public_members(kind)
    if properties := {key: member for key, member in members.items() if isinstance(member, property)}:
        lines = [f"- `{key}`: {summary(member)}" for key, member in properties.items()]
        yield "\n".join(["**Properties**", "", *lines])
    for key, member in members.items():
        if not isinstance(member, property):
            yield function_entry("####", f"{name}.{key}", member)


def public_members(kind: type[Any]) -> dict[str, Any]:
    """Returns the documented methods and properties that a class has from this package, in the order of their code."""
    found: dict[str, Any] = {}
    for base in reversed([base for base in kind.__mro__ if base.__module__.startswith("gtp_engine")]):
        for key, member in vars(base).items():
            function = member.__func__ if isinstance(member, staticmethod | classmethod) else member
            if (
                not key.startswith("_")
                and (inspect.isfunction(function) or isinstance(function, property))
                and function.__doc__
            ):
                found[key] = function
    return found


def function_entry(heading: str, name: str, function: Any) -> str:
    """Returns the entry of a function or a method."""
    return f"{heading} {name}\n\n{signature(name, function)}\n\n{text_of(function)}"


def value_entry(name: str, value: object) -> str:
    """Returns the entry of a constant."""
    return (
        f"- `{name}`: {', '.join(f'`{key}`' for key in value)}"
        if isinstance(value, dict)
        else f"- `{name} = {value!r}`"
    )


def signature(name: str, function: Any) -> str:
    """Returns a call with the types and the defaults of its parameters, on one line if it fits."""
    found = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=Written(parameter.annotation), default=written_default(parameter))
        for parameter in found.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    returned = found.return_annotation
    end = (
        ""
        if isinstance(function, type) or returned in (None, inspect.Signature.empty)
        else f" -> {Written(returned)!r}"
    )
    line = f"{name}{found.replace(parameters=parameters, return_annotation=inspect.Signature.empty)}{end}"
    if len(line) > WIDTH:
        texts = [str(parameter) for parameter in parameters]
        first = next((n for n, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY), None)
        if first is not None and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
            texts.insert(first, "*")
        line = "\n".join([f"{name}(", *(f"    {text}," for text in texts), f"){end}"])
    return f"```python\n{line}\n```"


def written_default(parameter: inspect.Parameter) -> Any:
    """Returns the default of a parameter; `...` for a function, or a value that is made anew each time."""
    default = parameter.default
    return Written("...") if default is not parameter.empty and repr(default).startswith("<") else default


class Written:
    """A type as it is written in the code, without the names of modules."""

    def __init__(self, annotation: Any) -> None:
        text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        names = re.sub(r"\b(?:[a-zA-Z_]\w*\.)+(?=[A-Za-z_])", "", text)
        names = re.sub(r"\*<class (\w+)>", r"Unpack[\1]", names.replace("'", "") if "<class" in names else names)
        names = names.replace("FileOrName", "str | PathLike[str]")
        self.text = names if "Literal" in names else names.replace("'", "")

    def __repr__(self) -> str:
        return self.text


def text_of(documented: Any) -> str:
    """Returns a docstring in Markdown."""
    return prose(inspect.cleandoc(documented.__doc__ or ""))


def prose(text: str) -> str:
    """Returns the text of a docstring in Markdown; its sections become lists."""
    parts = re.split(rf"^({'|'.join(SECTIONS)}):\n", text, flags=re.MULTILINE)
    sections = [
        f"**{SECTIONS[heading]}**\n\n{entries(body)}" for heading, body in zip(parts[1::2], parts[2::2], strict=True)
    ]
    return "\n\n".join([parts[0].strip(), *sections])


def entries(section: str) -> str:
    """Returns the entries of a section as a list, or its text if it has none."""
    text = textwrap.dedent(section).strip()
    found = re.findall(r"^([\w*]+(?:, \w+)*): (.*(?:\n+ +.*)*)", text, re.MULTILINE)
    rows = [
        f"- {', '.join(f'`{name}`' for name in names.split(', '))}: {' '.join(meaning.split())}"
        for names, meaning in found
    ]
    return "\n".join(rows) if rows and text.startswith(found[0][0]) else text


def summary(member: Any) -> str:
    """Returns the first paragraph of a docstring on one line."""
    return " ".join((member.__doc__ or "").strip().partition("\n\n")[0].split())
