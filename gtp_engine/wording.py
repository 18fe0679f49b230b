"""What every part of the program says in the same words: why something failed, and how many there are of a thing."""


def reason(error: BaseException) -> str:
    """What an error says, in one line: of the system's errors the file and what is wrong, without their number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    text = " ".join(str(error).split())
    return "no memory is left" if isinstance(error, MemoryError) and not text else text  # Python's own has no words


def counted(count: int, noun: str) -> str:
    """`1 move`, `1,234 moves`: for nouns whose plural is an s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
