"""Files made to hurt, 47 of them: what each is, and whether it is to be refused."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Callable
from typing import Literal, NamedTuple

Kind = Literal["rubric", "dataset"]


class Hostile(NamedTuple):
    """A file by what it is; ``readable``: a sensible reading of it exists, and is allowed."""

    what: str
    kind: Kind
    name: str
    make: Callable[[], bytes]
    readable: bool = False


def _weight(value: str) -> bytes:
    return f'{{"criteria": [{{"name": "a", "requirement": "b", "weight": {value}}}]}}'.encode()


def _yaml(text: str) -> Callable[[], bytes]:
    return text.encode


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)
RUBRIC_JSON = [
    Hostile("NaN as weight", "rubric", "r.json", lambda: _weight("NaN")),
    Hostile("Infinity as weight", "rubric", "r.json", lambda: _weight("Infinity")),
    Hostile("-Infinity as weight", "rubric", "r.json", lambda: _weight("-Infinity")),
    Hostile("1e999 as weight", "rubric", "r.json", lambda: _weight("1e999")),
    Hostile("an integer of 5,000 digits", "rubric", "r.json", lambda: _weight("9" * 5000)),
    Hostile("true as weight", "rubric", "r.json", lambda: _weight("true")),
    Hostile("a text as weight", "rubric", "r.json", lambda: _weight('"heavy"')),
    Hostile("200,000 deep", "rubric", "r.json", lambda: b"[" * 200_000 + b"]" * 200_000),
    Hostile("200,000 deep objects", "rubric", "r.json", lambda: b'{"a":' * 200_000),
    Hostile(
        "one key twice",
        "rubric",
        "r.json",
        lambda: b'{"criteria": [{"requirement": "a", "weight": 1, "weight": 9}]}',
    ),
    Hostile("nothing", "rubric", "r.json", lambda: b""),
    Hostile("blanks", "rubric", "r.json", lambda: b" \n\t" * 1000),
    Hostile("cut short", "rubric", "r.json", lambda: b'{"criteria": [{"requirement": "a'),
    Hostile("half a surrogate", "rubric", "r.json", lambda: _weight("1").replace(b"b", b"\\ud800")),
    Hostile("a number", "rubric", "r.json", lambda: b"7"),
    Hostile("100,000 NaN", "rubric", "r.json", lambda: b"[" + b"NaN," * 100_000 + b"1]"),
    Hostile(
        "9,000 criteria", "rubric", "r.json", lambda: json.dumps([{"requirement": "a"}] * 9000).encode()  # noqa: E501
    ),
    Hostile("not UTF-8", "rubric", "r.json", lambda: b'{"criteria": ["\xff\xfe\xfa"]}'),
]  # fmt: skip
RUBRIC_YAML = [
    Hostile("a billion laughs", "rubric", "r.yaml", _yaml(BOMB)),
    Hostile("250,000 aliases", "rubric", "r.yaml", _yaml("a: &a x\nb: [" + "*a, " * 250_000 + "]")),
    Hostile("a tag that runs code", "rubric", "r.yaml", _yaml("!!python/object/apply:os.system [x]")),  # noqa: E501
    Hostile("an alias of itself", "rubric", "r.yaml", _yaml("a: &a [*a]")),
    Hostile("one key twice", "rubric", "r.yaml", _yaml("- requirement: a\n  weight: 1\n  weight: 2")),  # noqa: E501
    Hostile(".nan as weight", "rubric", "r.yaml", _yaml("- requirement: a\n  weight: .nan")),
    Hostile(".inf as weight", "rubric", "r.yaml", _yaml("- requirement: a\n  weight: .inf")),
    Hostile("50,000 deep", "rubric", "r.yaml", _yaml("[" * 50_000)),
]  # fmt: skip


def _csv(text: str | bytes) -> Callable[[], bytes]:
    return lambda: text if isinstance(text, bytes) else text.encode()


TABLES = [
    Hostile("ragged rows", "dataset", "d.csv", _csv("id,submission\n1,a,b,c\n2\n")),
    Hostile("NUL bytes", "dataset", "d.csv", _csv("id,submission\n1,a\0b\n")),
    Hostile("one id twice", "dataset", "d.csv", _csv("id,submission\n1,a\n1,b\n")),
    Hostile("nothing", "dataset", "d.csv", _csv("")),
    Hostile("a header only", "dataset", "d.csv", _csv("id,submission\n")),
    Hostile("a quote without its end", "dataset", "d.csv", _csv('id,submission\n1,"a\n2,b\n')),
    Hostile("100,000 columns", "dataset", "d.csv", _csv("a," * 100_000 + "\n")),
    Hostile("one name for two columns", "dataset", "d.csv", _csv("id,submission,submission\n1,a,b\n")),  # noqa: E501
    Hostile("50,000 bad rows", "dataset", "d.csv", _csv("a,b\n" + "1\n" * 50_000)),
    Hostile("empty submissions", "dataset", "d.csv", _csv("id,submission\n1,\n2,\n"), True),
    Hostile("Windows-1252", "dataset", "d.csv", _csv("id,submission\n1,caf\xe9\n".encode("cp1252")), True),  # noqa: E501
    Hostile("UTF-16", "dataset", "d.csv", _csv("id,submission\n1,é\n".encode("utf-16")), True),
    Hostile("no encoding at all", "dataset", "d.csv", _csv(b"id,submission\n1,\x81\x8d\x8f\x90\n")),
    Hostile("20,000 lines cut short", "dataset", "d.jsonl", _csv('{"id": 1, "sub\n' * 20_000)),
    Hostile("a cell of 30 MB", "dataset", "d.csv", _csv("id,submission\n1," + "x" * 30_000_000 + "\n")),  # noqa: E501
]  # fmt: skip


def _zip(*entries: tuple[str, bytes], link: bool = False) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in entries:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if link:
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            made.writestr(info, data)
    return held.getvalue()


ZIPS = [
    Hostile("a zip bomb", "dataset", "d.zip", lambda: _zip(("a.txt", b"\0" * 400_000_000))),
    Hostile("paths upwards", "dataset", "d.zip", lambda: _zip(("../../a.txt", b"text")), True),
    Hostile("an absolute path", "dataset", "d.zip", lambda: _zip(("/etc/passwd", b"text")), True),
    Hostile("a symbolic link", "dataset", "d.zip", lambda: _zip(("a.txt", b"/etc/passwd"), link=True)),  # noqa: E501
    Hostile("100,000 files", "dataset", "d.zip",
            lambda: _zip(*((f"{n}.txt", b"") for n in range(100_000)))),
    Hostile("cut short", "dataset", "d.zip", lambda: _zip(("a.txt", b"text"))[:-30]),
]  # fmt: skip

CORPUS = [*RUBRIC_JSON, *RUBRIC_YAML, *TABLES, *ZIPS]
