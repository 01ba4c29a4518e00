"""Answers about passages and containment equal those of brute force."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import example, given, settings

from lshdb import Boilerplate, Contained, Containing, Document, Index
from lshdb.errors import DocumentUnknown, PassagesMissing, TextTooShort
from lshdb.model.expansion import Expansion
from lshdb.model.progress import Progress
from tests.passages.corpora import (
    PARAMS,
    N,
    Words,
    contained,
    corpora,
    has_run,
    refill,
    share_a_run,
    shingles,
    texts,
)

Name = TypeVar("Name", str, tuple[str, str])


def maximal_runs(words: Words, other: Words) -> set[tuple[int, int]]:
    found = {
        (start, stop)
        for start in range(len(words))
        for stop in range(start + N, len(words) + 1)
        if has_run(other, words[start:stop])
    }
    return {(start, stop) for start, stop in found if not {(start - 1, stop), (start, stop + 1)} & found}


def check_containing(index: Index, corpus: list[Words], asked: Words) -> None:
    question = Document("asked", " ".join(asked))
    if len(asked) < N:
        with pytest.raises(TextTooShort):
            index.containing(question)
        return
    for reverse in (False, True):
        shares = {
            f"d{number}": contained(words, asked) if reverse else contained(asked, words)
            for number, words in enumerate(corpus)
        }
        promised = {f"d{number}" for number, words in enumerate(corpus) if share_a_run(asked, words)}
        found = {one.id: one.containment for one in index.containing(question, 0.4, reverse=reverse)}
        check_found(found, shares, promised)


def check_pairs(index: Index, corpus: list[Words]) -> None:
    shares, promised = {}, set()
    for right in range(len(corpus)):
        for left in range(right):
            is_left_small = len(shingles(corpus[left])) <= len(shingles(corpus[right]))
            small, large = (left, right) if is_left_small else (right, left)
            shares[f"d{small}", f"d{large}"] = contained(corpus[small], corpus[large])
            if share_a_run(corpus[left], corpus[right]):
                promised.add((f"d{small}", f"d{large}"))
    found = list(index.contained_pairs(0.4))
    check_found({(one.small, one.large): one.containment for one in found}, shares, promised)
    assert all(one.exact for one in found)


def check_found(found: dict[Name, float], shares: dict[Name, float], promised: set[Name]) -> None:
    """Texts that share a run of N words are found. Others may be: they can share a fingerprint."""
    near = {name: share for name, share in shares.items() if share >= 0.4}
    assert found.items() <= near.items()
    assert promised & near.keys() <= found.keys()


def check_passages(index: Index, corpus: list[Words], number: int) -> None:
    words, others = corpus[number], [other for at, other in enumerate(corpus) if at != number]
    expected = {span for other in others for span in maximal_runs(words, other)}
    found = index.passages(f"d{number}")
    assert {(one.start, one.stop) for one in found} == expected
    for one in found:
        run = words[one.start : one.stop]
        assert one.text.split() == run
        assert " ".join(words).encode()[one.start_byte : one.stop_byte].decode() == one.text
        assert one.num_documents == sum(has_run(other, run) for other in others)
        assert one.exact


def test_answers_are_those_of_brute_force(url: str) -> None:
    with Index.create(url, PARAMS) as index:

        @settings(max_examples=10)
        @given(corpora, texts)
        @example([["one"], ["one", "two"] * 6], ["two", "one", "two", "three", "four", "水", "火", "straße"])
        def check(corpus: list[Words], asked: Words) -> None:
            refill(index, corpus)
            check_containing(index, corpus, asked)
            check_pairs(index, corpus)
            for number in range(len(corpus)):
                check_passages(index, corpus, number)

        check()


def test_a_document_does_not_contain_itself_and_copies_do(url: str) -> None:
    text = "one two three four five six seven eight nine ten"
    with Index.create(url, PARAMS) as index:
        index.add([Document("a", text), Document("b", f"before {text} after it"), Document("c", text.upper())])
        assert index.containing_id("a") == [Containing("c", 1.0), Containing("b", 1.0)]
        assert index.containing_id("b", 0.5) == [Containing("a", 8 / 11), Containing("c", 8 / 11)]
        assert index.containing_id("b", reverse=True) == [Containing("a", 1.0), Containing("c", 1.0)]
        assert list(index.contained_pairs()) == [Contained("a", "b", 1.0)]
        (passage,) = index.passages("b")
        assert (passage.text, passage.num_documents, passage.documents) == (
            text, 2, (("a", "default"), ("c", "default"))
        )  # fmt: skip
        index.remove("a")
        assert index.containing_id("b", reverse=True) == [Containing("c", 1.0)]
        assert index.passages("b")[0].num_documents == 1


class Warnings(Progress):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def warned(self, message: str) -> None:
        self.messages.append(message)


def test_texts_with_frequent_passages_only_are_counted_when_they_are_not_compared(url: str) -> None:
    footer = "all rights reserved by the owners of this place for ever"
    progress = Warnings()
    with Index.create(url, PARAMS, progress) as index:
        index.add(Document(f"d{n}", f"{n} {n * n} {footer}") for n in range(12))
        index._store.expansion = Expansion(cap=5, hubs=2)
        found = index.containing(Document("asked", footer))
        assert [one.id for one in found] == ["d0", "d1", "d2", "d3", "d4"]
        assert progress.messages == [
            "7 more texts share only passages with it that more than 5 texts have; they were not compared"
        ]
        (passage,) = index.passages("d3")
        assert (passage.text, passage.exact) == (footer, False)
        progress.messages.clear()
        assert len(list(index.contained_pairs(0.5))) == 5 * 4 // 2 + 7 * 2
        assert "pairs share passages that more than 5 texts have" in progress.messages[0]
        figures = index.stats().figures
        # The footer has 11 words, so 9 shingles, of which some are fingerprints of all 12 texts.
        assert figures.num_frequent_fingerprints >= 2
        left_out = 12 * 11 // 2 - (5 * 4 // 2 + 7 * 2)
        assert figures.num_skipped_containments == left_out * figures.num_frequent_fingerprints
        (frequent,) = index.boilerplate()
        assert (frequent.text, frequent.num_documents, frequent.exact) == (footer, 12, True)


def test_boilerplate_is_counted_by_collection_and_by_prefix(url: str) -> None:
    footer, header = "all rights reserved by the owners of it", "skip to the content of this page or not"
    with Index.create(url, PARAMS) as index:
        index.add(Document(f"https://a.example/{n}", f"{header} {n}a {n}b {footer}") for n in range(4))
        index.add([Document(f"https://b.example/{n}", f"{n}c says {n}d {footer}") for n in range(5)], "b")
        first = ("https://a.example/0", "default")
        assert [(one.text, one.num_documents, one.first, one.collection) for one in index.boilerplate()] == [
            (footer, 9, *first),
            (header, 4, *first),
        ]
        assert [(one.text, one.num_documents) for one in index.boilerplate(limit=1)] == [(footer, 9)]
        assert index.boilerplate(within="b") == [Boilerplate(footer, 8, 5, True, "https://b.example/0", "b")]
        assert {one.num_documents for one in index.boilerplate(prefix="https://a.example/")} == {4}
        assert index.boilerplate(min_documents=10) == []
        assert index.boilerplate(prefix="https://c.example/") == []


def test_a_longer_passage_of_fewer_documents_is_counted_for_itself(url: str) -> None:
    footer = "all rights reserved by the owners of it"
    with Index.create(url, PARAMS) as index:
        index.add(Document(f"a{n}", f"number {n} of a {footer}") for n in range(4))
        index.add(Document(f"b{n}", f"{n} things that b says {footer}") for n in range(5))
        found = {one.text: one.num_documents for one in index.boilerplate()}
    assert found[footer] == 9
    assert found.items() <= {footer: 9, f"things that b says {footer}": 5, f"of a {footer}": 4}.items()


def test_boilerplate_has_as_many_documents_as_a_passage_must_have(url: str) -> None:
    footer = "all rights reserved by the owners of it"
    with Index.create(url, PARAMS) as index:
        index.add(Document(f"a{n}", f"skip to the content of this page {footer} a{n}") for n in range(6))
        index.add(Document(f"b{n}", f"b{n} says {footer} {n}") for n in range(4))
        assert [(one.text, one.num_documents) for one in index.boilerplate(min_documents=7)] == [(footer, 10)]


def test_boilerplate_is_a_run_that_the_same_documents_have_from_its_start_to_its_end(url: str) -> None:
    header, footer, more = "skip to the content of it", "all rights reserved by the owners", "made by those who like it"
    with Index.create(url, PARAMS) as index:
        index.add(Document("first", f"{header} {footer} {more}"))
        index.add(Document(f"a{n}", f"{header} {footer} a{n}") for n in range(3))
        index.add(Document(f"b{n}", f"b{n} {footer} {more}") for n in range(3))
        found = {(one.text, one.num_documents) for one in index.boilerplate()}
    assert found == {(f"{header} {footer}", 4), (f"{footer} {more}", 4)}


def test_boilerplate_is_found_after_a_part_of_it_that_stands_alone(url: str) -> None:
    footer = "all rights reserved by the owners of it"
    parts = [footer.split()[start : start + 3] for start in range(6)]
    with Index.create(url, PARAMS) as index:
        index.add(Document("first", f"{' or '.join(map(' '.join, parts))} and {footer}"))
        index.add(Document(f"d{n}", f"d{n} {footer} {n}") for n in range(4))
        assert [(one.text, one.num_documents) for one in index.boilerplate()] == [(footer, 5)]


def test_an_index_without_passages_says_how_to_add_them(url: str) -> None:
    with Index.create(url) as index:
        index.add(Document("a", "some text"))
        questions: list[Callable[[], object]] = [
            lambda: index.containing(Document("x", "text")),
            lambda: index.containing_id("a"),
            lambda: index.contained_pairs(),
            lambda: index.passages("a"),
            index.boilerplate,
        ]
        for question in questions:
            with pytest.raises(PassagesMissing, match="lshdb passages --build"):
                question()
        index.build_passages(N)
        with pytest.raises(DocumentUnknown):
            index.passages("b")
        assert index.passages("a") == []
