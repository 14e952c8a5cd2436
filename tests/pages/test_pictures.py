"""No picture of the documents is older than the page it shows."""

from __future__ import annotations

import json

from tests.pictures import FOLDER, hashes, places


def test_the_pictures_show_the_pages_as_they_are() -> None:
    kept = json.loads((FOLDER / "pictures.json").read_text())
    found = hashes(places())
    old = [name for name, words in found.items() if kept.get(name) != words]
    assert old == [], "Their pages say something else by now. Take them anew: make pictures"
    assert {path.name for path in FOLDER.glob("*.png")} == set(found)
