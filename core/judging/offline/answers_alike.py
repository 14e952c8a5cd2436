"""Group similar answers to the same question by their texts alone.

The distance of two answers is the cosine distance of their character sequences (TF-IDF over 3 to 5
letters). Linkage is complete: no two answers of a group are further apart than the limit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from core.domain.dataset import Item
from core.domain.review import Closeness
from core.judging.near_duplicates import group_numbers

#: The largest distance within a group, from 0 (the same sequences) to 1 (none shared).
DISTANCE: dict[Closeness, float] = {"same": 0.05, "near": 0.4, "related": 0.6}
#: With more answers to a question, only near-duplicates are grouped, because all pairs are
#: compared.
MOST = 2_000


def similar_groups(items: Sequence[Item], closeness: Closeness) -> Iterator[list[Item]]:
    """Yield groups of items with answers this close to the same question.

    >>> answers = ("Because it is hot.", "because it is hot", "The sun warms it.")
    >>> items = [Item(id=str(at), submission=text) for at, text in enumerate(answers)]
    >>> [[item.id for item in group] for group in similar_groups(items, "near")]
    [['0', '1'], ['2']]
    """
    by_question: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_question[item.prompt].append(item)
    for answers in by_question.values():
        groups: dict[int, list[Item]] = defaultdict(list)
        for number, item in zip(_group_numbers(answers, closeness), answers, strict=True):
            groups[number].append(item)
        yield from groups.values()


def _group_numbers(items: Sequence[Item], closeness: Closeness) -> list[int]:
    if not 1 < len(items) <= MOST:
        return group_numbers(items)
    # Imported here because scikit-learn takes a second to load.
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.feature_extraction.text import TfidfVectorizer

    sequences = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    # Texts without letters have no sequences, so they get a word that no other text has.
    texts = ["".join(c if c.isalnum() else " " for c in item.output.lower()) for item in items]
    shares = sequences.fit_transform([text if text.split() else "wordless" for text in texts])
    linkage = AgglomerativeClustering(
        n_clusters=None, metric="cosine", linkage="complete", distance_threshold=DISTANCE[closeness]
    )
    return [int(number) for number in linkage.fit_predict(shares.toarray())]
