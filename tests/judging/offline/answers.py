"""Made-up answers whose right label follows from their words, or from nothing at all."""

from __future__ import annotations

import random

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Option

CLASSIFIER = Judge(name="C", kind="classifier")
NEIGHBOURS = Judge(name="N", kind="neighbours")
PROMPT = "Why do we have seasons?"
REFERENCE = "The axis of the earth is tilted, so each hemisphere leans towards the sun in turn."
RIGHT = ("tilted axis", "hemisphere leans", "angle of sunlight", "axis tilt", "sunlight is direct")
WRONG = ("distance to the sun", "further away", "closer orbit", "moon shadow", "distance changes")
SENTENCE = "because so we get summer and winter when every year goes round again it is"
FILLER = SENTENCE.split()

CORRECT = Criterion(name="Correct", requirement="Is the cause right?")
MET, UNMET, CANNOT_ASSESS = 0, 1, 2
GRADE = Criterion(
    name="Grade",
    requirement="How good is it?",
    scale="ordinal",
    forced_choice=True,
    options=(
        Option(label="poor", value=0),
        Option(label="fair", value=0.5),
        Option(label="good", value=1),
    ),
)


def answer(name: str, telling: str, generator: random.Random, prompt: str = PROMPT) -> Item:
    """An answer that says ``telling`` somewhere among filler words."""
    words = generator.sample(FILLER, 8)
    words.insert(generator.randrange(8), telling)
    return Item(id=name, submission=" ".join(words), prompt=prompt, reference=REFERENCE)


def seasons(n: int, seed: int = 0, start: int = 0) -> list[tuple[Item, int]]:
    """``n`` answers, two thirds right, labelled by what they say."""
    generator = random.Random(f"{seed} {start}")
    made = list[tuple[Item, int]]()
    for i in range(start, start + n):
        right = i % 3 != 0
        telling = generator.choice(RIGHT if right else WRONG)
        made.append((answer(f"a{i}", telling, generator), MET if right else UNMET))
    return made


def noise(n: int, seed: int) -> list[tuple[Item, int]]:
    """``n`` answers whose labels (60% MET) have nothing to do with them."""
    generator = random.Random(seed)
    return [
        (answer(f"r{i}", generator.choice(RIGHT + WRONG), generator), int(generator.random() > 0.6))
        for i in range(n)
    ]
