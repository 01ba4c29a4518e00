"""Clusters by containment: what is dropped is contained in what is kept, as brute force says."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb import ClusterOptions, Document, ExportOptions, Index
from lshdb.errors import PassagesMissing, UsageError
from tests.passages.corpora import PARAMS, N, Words, are_candidates, contained, corpora, refill, shingles

BY_CONTAINMENT = ClusterOptions(measure="containment")


def kept_by_brute_force(corpus: list[Words], least: float) -> dict[int, int | None]:
    """Each document with the kept one that contains most of it, or None if it is kept. The longest is first."""
    kept_for: dict[int, int | None] = {}
    for one in sorted(range(len(corpus)), key=lambda number: (-len(shingles(corpus[number])), number)):
        shares = {
            other: contained(corpus[one], corpus[other])
            for other, instead in kept_for.items()
            if instead is None and are_candidates(corpus[one], corpus[other])
        }
        best = min(shares, key=lambda other: (-shares[other], other), default=None)
        kept_for[one] = None if best is None or shares[best] < least else best
    return kept_for


def test_a_document_is_dropped_if_and_only_if_brute_force_drops_it(url: str) -> None:
    with Index.create(url, PARAMS) as index:

        @settings(max_examples=10)
        @given(corpora, st.sampled_from([0.5, 0.9, 1.0]))
        def check(corpus: list[Words], least: float) -> None:
            refill(index, corpus)
            kept_for = kept_by_brute_force(corpus, least)
            members = list(index.members(least, BY_CONTAINMENT))
            assert {(one.document, one.keep): one.similarity for one in members if not one.is_kept} == {
                (f"d{one}", f"d{other}"): contained(corpus[one], corpus[other])
                for one, other in kept_for.items()
                if other is not None
            }
            assert all(one.exact for one in members)

        check()


def text(first: int, last: int) -> str:
    return " ".join(f"w{number}" for number in range(first, last))


def clusters(url: str, texts: dict[str, str], least: float, options: ClusterOptions) -> dict[str, set[str]]:
    with Index.ensure(url, PARAMS) as index:
        index.add([Document(doc_id, one) for doc_id, one in texts.items()])
        return {one.keep: set(one.members[1:]) for one in index.clusters(least, options)}


def test_of_a_chain_only_what_the_kept_one_itself_contains_is_dropped(url: str) -> None:
    # c has 90 % of b, and b has 90 % of a, but c has 80 % of a only.
    chain = {"a": text(0, 102), "b": text(10, 212), "c": text(30, 500)}
    assert clusters(url, chain, 0.85, BY_CONTAINMENT) == {"c": {"b"}}


def test_what_a_dropped_text_contains_exactly_is_dropped_for_the_kept_one(url: str) -> None:
    chain = {"a": text(20, 40), "b": text(10, 60), "c": text(0, 100)}
    assert clusters(url, chain, 1.0, BY_CONTAINMENT) == {"c": {"a", "b"}}


def test_of_texts_that_contain_each_other_the_preferred_one_of_the_same_length_is_kept(url: str) -> None:
    same = {"a": f"x {text(0, 100)}", "b": f"{text(0, 100)} y", "c": f"{text(0, 100)} z"}
    assert clusters(url, same, 0.9, BY_CONTAINMENT) == {"a": {"b", "c"}}
    preferred = ClusterOptions(measure="containment", prefer=("c",))
    assert clusters(url, same, 0.9, preferred) == {"c": {"a", "b"}}
    longest = {**same, "d": f"x {text(0, 100)} y"}
    assert clusters(url, longest, 0.9, preferred) == {"d": {"a", "b", "c"}}


def test_copies_are_dropped_with_their_text_and_other_collections_keep_theirs(url: str) -> None:
    with Index.create(url, PARAMS) as index:
        index.add([Document("large", text(0, 50)), Document("small", text(10, 30)), Document("copy", text(10, 30))])
        index.add([Document("there", text(10, 30))], "other")
        (found,) = index.clusters(options=BY_CONTAINMENT)
        assert (found.keep, set(found.members)) == ("large", {"large", "small", "copy", "there"})
        assert list(index.clusters(options=ClusterOptions(measure="containment", within="other"))) == []


def test_an_export_names_the_share_that_the_kept_document_has(url: str) -> None:
    with Index.create(url, PARAMS) as index:
        index.add([Document("large", text(0, 50)), Document("small", f"x {text(10, 30)}")])
        out = io.StringIO()
        index.export(out, 0.9, ExportOptions("dropped", clusters=BY_CONTAINMENT))
    assert out.getvalue() == (
        "dropped\tkept_for\tcontainment\texact\tcollection\tkept_collection\n"
        f"small\tlarge\t{18 / 19}\ttrue\tdefault\tdefault\n"
    )


def test_clusters_by_containment_need_passages_and_no_linkage(url: str) -> None:
    with pytest.raises(UsageError, match="--linkage is for --measure jaccard"):
        ClusterOptions(measure="containment", linkage="single")
    with Index.create(url) as index:
        with pytest.raises(PassagesMissing, match="lshdb passages --build"):
            index.clusters(options=BY_CONTAINMENT)
        index.build_passages(N)
        assert list(index.clusters(options=BY_CONTAINMENT)) == []


def test_pairs_by_containment_are_chosen_and_sorted_like_others(url: str) -> None:
    with Index.create(url, PARAMS) as index:
        index.add([Document("large", text(0, 50)), Document("b", text(10, 30)), Document("copy", text(10, 30))])
        index.add([Document("a", f"x {text(20, 40)}")], "other")
        pairs = [(one.small, one.large) for one in index.contained_pairs(0.4, sort="id")]
        assert pairs == [("a", "large"), ("b", "a"), ("b", "large")]
        by_share = list(index.contained_pairs(0.5, sort="similarity", limit=2))
        assert [(one.small, one.containment) for one in by_share] == [("b", 1.0), ("a", 18 / 19)]
        assert [one.small for one in index.contained_pairs(0.9, expand=True, sort="id")] == ["a", "b", "copy"]
        assert [one.small for one in index.contained_pairs(0.9, max_containment=0.99)] == ["a"]
        assert [one.small for one in index.contained_pairs(0.9, within="default")] == ["b"]
        assert [one.small for one in index.contained_pairs(0.9, between=("other", "default"))] == ["a"]
        assert list(index.contained_pairs(0.9, between=("default", "other"))) == []
