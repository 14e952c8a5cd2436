"""Comments in a YAML text: they are nobody's data, so a version does not keep them."""

from __future__ import annotations


def comment_lines(text: str) -> tuple[int, ...]:
    r"""The numbers (from 1) of the lines that hold a comment; none where the text is no YAML.

    A sharp sign inside a value, quoted or in a block, is part of the value.

    >>> comment_lines("# mine\nname: 'a # b'\ntext: |\n  # no comment\nweight: 1 # why\n")
    (1, 5)
    """
    import yaml

    try:
        tokens = list(yaml.scan(text))
    except yaml.YAMLError:
        return ()
    values = [
        # A block's value begins below its sign, beside which a comment may stand.
        (
            text.find("\n", token.start_mark.index)
            if token.style in ("|", ">")
            else token.start_mark.index,
            token.end_mark.index,
        )
        for token in tokens
        if isinstance(token, yaml.ScalarToken)
    ]
    found, offset = list[int](), 0
    for row, line in enumerate(text.split("\n"), start=1):
        if any(_begins(line, at) and not _inside(values, offset + at) for at in range(len(line))):
            found.append(row)
        offset += len(line) + 1
    return tuple(found)


def _begins(line: str, at: int) -> bool:
    return line[at] == "#" and (at == 0 or line[at - 1] in " \t")


def _inside(values: list[tuple[int, int]], place: int) -> bool:
    return any(start <= place < end for start, end in values)
