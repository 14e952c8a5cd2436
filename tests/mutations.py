"""Good answers and files, changed at random into bad ones: the same for the same seed."""

from __future__ import annotations

import io
import json
import random
import zipfile
from dataclasses import replace
from typing import Any

from tests.provider import Answer

HUGE = "x" * 100_000
DEEP = "[" * 3_000 + "]" * 3_000
#: What stands where something else is expected, as it is written in JSON.
VALUES = (
    *("null", "true", "false", "[]", "{}", '""', "0", "-1", "1.5", "-0.0", "NaN", "Infinity"),
    *("-Infinity", "1e999", "1e308", str(2**63), str(-(2**64)), "9" * 400, '"1"', '"MET"', '"0x1"'),
    *(r'"\u0000"', r'"\ud800"', r'"\u202e"', '"<script>"', '"=1+1"', '"' + HUGE + '"', DEEP),
    *("[1, 2, 3]", '[["a"]]', '{"a": {"b": 1}}', '["' + '", "'.join("ab" * 500) + '"]'),
)
#: Headers that a client may read, and what is wrong with each.
HEADERS = {
    "Retry-After": ("-1", "nan", "1e999", "9" * 50, "soon", "Fri, 31 Dec 9999 23:59:59 -2400"),
    "Retry-After-Ms": ("-1", "nan", "1e999", "abc"),
    "Date": ("Mon, 01 Jan 0001 00:00:00 +2359", "now", "9" * 99),
    "x-ratelimit-limit-requests": ("0", "-5", "9" * 400, "nan"),
    "x-ratelimit-remaining-requests": ("-1", "1e9", "9" * 400),
    "x-ratelimit-reset-requests": ("-1s", "9" * 400 + "h", "1d2", "é"),
    "anthropic-ratelimit-requests-reset": ("9999-12-31T23:59:59-23:59", "0", "T"),
    "x-request-id": ("a" * 5_000, "\u00e9", "../../x"),
    "Content-Type": ("text/html", "application/json; charset=utf-99", "a/b;" * 200, "image/png"),
    "Content-Language": ("x", "x" * 4_000),
}
STATUSES = (200, 200, 200, 201, 204, 206, 299, 400, 401, 404, 413, 418, 422, 451, 499, 599)


def answer(good: Answer, dice: random.Random) -> Answer:
    """An answer that is wrong in one way: its JSON, its bytes, its headers or its status."""
    how = dice.choice((_json, _json, _json, _reply, _reply, _bytes, _bytes, _headers, _status))
    return how(good, dice)


def file(good: bytes, dice: random.Random) -> bytes:
    """A file with some of its bytes changed, cut, doubled or put elsewhere; or those of a file in
    it, where it is an archive.
    """
    if good.startswith(b"PK") and dice.random() < 0.8:
        return _inside(good, dice)
    found = good
    for _ in range(dice.choice((1, 1, 2, 5))):
        found = dice.choice((_flip, _cut, _double, _insert, _swap))(found, dice)
    return found


def _inside(good: bytes, dice: random.Random) -> bytes:
    """An archive, sound in itself, with one of its files changed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as old, zipfile.ZipFile(packed, "w") as new:
        names = old.namelist()
        chosen = dice.choice(names)
        for name in names:
            data = old.read(name)
            new.writestr(name, file(data, dice) if name == chosen else data)
    return packed.getvalue()


def _json(good: Answer, dice: random.Random) -> Answer:
    return replace(good, body=_changed(good.body.decode(), dice).encode("utf-8", "surrogatepass"))


def _reply(good: Answer, dice: random.Random) -> Answer:
    """Wrong in what the model itself wrote."""
    body = json.loads(good.body)
    said = body["choices"][0]["message"]
    said["content"] = _changed(said["content"], dice)
    return replace(good, body=json.dumps(body).encode())


def _changed(text: str, dice: random.Random) -> str:
    """JSON with one of its places changed: another value, gone, twice, or under another name."""
    value = json.loads(text)
    places = list(_places(value, ()))
    path = dice.choice(places)
    mark = "\x1amark\x1a"
    holder: Any = value
    for step in path[:-1]:
        holder = holder[step]
    key, how = path[-1], dice.random()
    if how < 0.15:
        del holder[key]
        return json.dumps(value)
    if how < 0.25 and isinstance(holder, dict):
        holder[dice.choice(("", "x", key.upper(), "\u200b" + key))] = holder.pop(key)
        return json.dumps(value)
    if how < 0.3 and isinstance(holder, dict):
        twice = json.dumps(holder)[:-1] + f", {json.dumps(key)}: {dice.choice(VALUES)}}}"
        return twice if len(path) == 1 else json.dumps(value)[:-1] + f', "{key}": {twice}}}'
    holder[key] = mark
    return json.dumps(value).replace(json.dumps(mark), dice.choice(VALUES))


def _places(value: Any, path: tuple[Any, ...]) -> Any:
    inside: Any = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, part in inside:
        yield (*path, key)
        yield from _places(part, (*path, key))


def _bytes(good: Answer, dice: random.Random) -> Answer:
    return replace(good, body=file(good.body, dice))


def _headers(good: Answer, dice: random.Random) -> Answer:
    names = dice.sample(sorted(HEADERS), dice.choice((1, 1, 3)))
    told = {name: dice.choice(HEADERS[name]) for name in names}
    kind = told.pop("Content-Type", good.content_type)
    return replace(good, headers=told, content_type=kind, status=dice.choice((200, 200, 200, 400)))


def _status(good: Answer, dice: random.Random) -> Answer:
    return replace(_bytes(good, dice), status=dice.choice(STATUSES))


def _flip(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) or 1)
    return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]


def _cut(data: bytes, dice: random.Random) -> bytes:
    first, last = sorted(dice.randrange(len(data) + 1) for _ in range(2))
    return dice.choice((data[:first], data[last:], data[:first] + data[last:]))


def _double(data: bytes, dice: random.Random) -> bytes:
    first, last = sorted(dice.randrange(len(data) + 1) for _ in range(2))
    return data[:last] + data[first:last] * dice.choice((1, 2, 30)) + data[last:]


def _insert(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    piece = dice.choice(
        (b"\0", b"\xff\xfe", b'"', b"\n", b"{", b"[" * 500, b"9" * 400, b"&a *a", b"=1")
    )
    return data[:at] + piece + data[at:]


def _swap(data: bytes, dice: random.Random) -> bytes:
    a, b, c = sorted(dice.randrange(len(data) + 1) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]
