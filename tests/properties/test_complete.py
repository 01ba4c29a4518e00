"""With oversized buckets, complete answers equal a brute-force search among the texts that share a bucket."""

from __future__ import annotations

import random
from itertools import combinations, pairwise
from typing import Any, Final

import pytest

from lshdb import Document, Index
from lshdb.model.choices import PairOrder
from lshdb.model.expansion import Expansion
from lshdb.sketch.sketch import sketch_encoded
from lshdb.sketch.texts import encode
from tests.expanding import index_with

# Few minima, so that many pairs share no bucket.
CHOSEN: Final[dict[str, Any]] = {"shingle": "word:2", "bands": 6, "rows": 2, "num_perm": 12, "floor": 0.3}
MIN_SIM: Final = 0.4
COLLECTIONS: Final = ("a", "b")

# (left, right, similarity), the left name before the right one.
Found = tuple[str, str, float]


class Corpus:
    """Pages of a few templates, some of them copies, in two collections, and what a brute-force search finds."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        templates = [[f"t{number}w{place}" for place in range(24)] for number in range(chance.randint(1, 3))]
        self.texts: dict[str, str] = {}
        for number in range(45):
            words = list(chance.choice(templates))
            for _ in range(chance.randint(0, 6)):
                words[chance.randrange(len(words))] = f"own{number}"
            copied = chance.random() < 0.15 and self.texts
            self.texts[f"d{number:02}"] = chance.choice(list(self.texts.values())) if copied else " ".join(words)
        self.collection = {name: chance.choice(COLLECTIONS) for name in self.texts}

    def fill(self, index: Index) -> None:
        for name, text in self.texts.items():
            index.add([Document(name, text)], self.collection[name], link=False)
        index.link()

    def pairs(self, index: Index) -> set[Found]:
        """Return every pair of documents at `MIN_SIM` or more that shares a bucket or the text."""
        sketches = sketch_encoded([encode(text) for text in self.texts.values()], index.params)
        keys = dict(zip(self.texts, sketches.band_keys.keys, strict=True))
        return {
            (left, right, similarity(self.texts[left], self.texts[right]))
            for left, right in combinations(self.texts, 2)
            if (keys[left] == keys[right]).any() and similarity(self.texts[left], self.texts[right]) >= MIN_SIM
        }

    def first(self, within: str | None = None) -> set[str]:
        """Return the first document of each text, in one collection or in all."""
        firsts: dict[str, str] = {}
        for name, text in self.texts.items():
            if within in (None, self.collection[name]):
                firsts.setdefault(text, name)
        return set(firsts.values())


def similarity(left: str, right: str) -> float:
    one, other = (set(pairwise(words)) for words in (left.split(), right.split()))
    return len(one & other) / len(one | other)


def sided(pairs: Any) -> list[Found]:
    return sorted((*sorted((pair.left, pair.right)), pair.similarity) for pair in pairs)


@pytest.mark.parametrize("seed", range(3))
def test_complete_answers_are_those_of_a_brute_force_search(seed: int, url: str) -> None:
    corpus, chance = Corpus(seed), random.Random(-seed)
    with index_with(Expansion(cap=chance.randint(2, 3), hubs=chance.randint(1, 2)), url, **CHOSEN) as index:
        corpus.fill(index)
        truth = corpus.pairs(index)
        assert set(sided(index.pairs(MIN_SIM, expand=True))) < truth
        assert sided(index.pairs(MIN_SIM, expand=True, complete=True)) == sorted(truth)

        # One pair for each two texts, and each copy with the first document of its text.
        firsts = corpus.first()
        shown = [(one, other, near) for one, other, near in truth if one in firsts and (other in firsts or near == 1.0)]
        assert sided(index.pairs(MIN_SIM, complete=True)) == sorted(shown)

        near = [pair for pair in truth if pair[2] <= 0.7]
        assert sided(index.pairs(MIN_SIM, expand=True, max_sim=0.7, complete=True)) == sorted(near)
        for within in COLLECTIONS:
            inside = [pair for pair in truth if corpus.collection[pair[0]] == corpus.collection[pair[1]] == within]
            assert sided(index.pairs(MIN_SIM, expand=True, within=within, complete=True)) == sorted(inside)
        across = [pair for pair in truth if corpus.collection[pair[0]] != corpus.collection[pair[1]]]
        between = list(index.pairs(MIN_SIM, expand=True, between=COLLECTIONS, complete=True))
        assert sided(between) == sorted(across)
        assert {(pair.left_collection, pair.right_collection) for pair in between} <= {COLLECTIONS}

        for name, text in corpus.texts.items():
            mine = {(other if one == name else one): near for one, other, near in truth if name in (one, other)}
            by_id = index.query_id(name, MIN_SIM, corpus.collection[name])
            assert {match.id: match.similarity for match in by_id} == mine
            assert {match.id: match.similarity for match in index.query(Document("asked", text), MIN_SIM)} == {
                **mine, name: 1.0,
            }  # fmt: skip


@pytest.mark.parametrize("order", ["similarity", "id"])
def test_complete_pairs_are_sorted_together_with_the_stored_ones(order: PairOrder, url: str) -> None:
    corpus = Corpus(7)
    with index_with(Expansion(cap=2, hubs=1), url, **CHOSEN) as index:
        corpus.fill(index)
        every = list(index.pairs(MIN_SIM, complete=True))
        found = list(index.pairs(MIN_SIM, sort=order, complete=True))
        names = [(pair.left, pair.right) for pair in found]
        keys = {
            "similarity": [(-pair.similarity, *name) for pair, name in zip(found, names, strict=True)],
            "id": names,
        }[order]
        assert keys == sorted(keys)
        assert sorted(names) == sorted((pair.left, pair.right) for pair in every)
        assert list(index.pairs(MIN_SIM, sort=order, limit=5, complete=True)) == found[:5]


def test_stored_pairs_come_first_and_the_others_family_by_family_in_any_number_of_parts(url: str) -> None:
    from lshdb.answers.families import families_of, left_out

    corpus = Corpus(3)
    with index_with(Expansion(cap=2, hubs=1), url, **CHOSEN) as index:
        corpus.fill(index)
        stored, every = list(index.pairs(MIN_SIM)), list(index.pairs(MIN_SIM, complete=True))
        assert every[: len(stored)] == stored
        with index._store.reading() as snapshot:
            families = families_of(snapshot)
            whole = list(left_out(snapshot, families, MIN_SIM, index.params))
            parts = list(left_out(snapshot, families, MIN_SIM, index.params, part_pairs=1))
        assert len(whole) == len(families.members)
        assert len(parts) == families.num_contents
        assert [key for part in parts for key in part.keys.tolist()] == [
            key for part in whole for key in part.keys.tolist()
        ]
        assert len(every) - len(stored) == sum(map(len, whole)) <= families.num_candidates
