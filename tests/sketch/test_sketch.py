"""From documents to sketches."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lshdb.errors import BadDocument
from lshdb.model.params import Params
from lshdb.model.values import Document, Signatures
from lshdb.sketch.minhash import estimate
from lshdb.sketch.sketch import shingle_sets, shingle_sets_utf8, sketch, text_of
from lshdb.sketch.texts import encode, pack, unpack, unpack_utf8

TEXT = "It was a bright cold day in April, and the clocks were striking thirteen."


def test_a_sketch_has_one_row_per_document() -> None:
    sketches = sketch([Document("a", TEXT), Document("b", ""), Document("c", "Short")], Params())
    assert len(sketches) == 3
    assert sketches.digests.shape == (3, 16)
    assert sketches.num_shingles.tolist() == [10, 0, 1]
    assert sketches.signatures.minima.shape == (3, 100)
    assert sketches.band_keys.keys.shape == (3, 20)
    assert sketches.texts is not None
    assert [unpack(frame) for frame in sketches.texts] == [TEXT, "", "Short"]


def test_no_documents_make_an_empty_sketch() -> None:
    for shingle in ("word:5", "char:5", "set"):
        sketches = sketch([], Params(shingle=shingle))
        assert (len(sketches), sketches.texts) == (0, ())


def test_a_sketch_has_no_texts_if_the_index_keeps_none() -> None:
    assert sketch([Document("a", TEXT)], Params(keep_text=False)).texts is None


def test_a_document_has_the_same_sketch_alone_and_in_a_batch() -> None:
    documents = [
        Document(str(i), text) for i, text in enumerate([TEXT, "e\u0301", "", "\u4e2d\u6587 " * 9, TEXT.upper()])
    ]
    together = sketch(documents, Params())
    for row, document in enumerate(documents):
        alone = sketch([document], Params())
        np.testing.assert_array_equal(alone.digests[0], together.digests[row])
        np.testing.assert_array_equal(alone.signatures.minima[0], together.signatures.minima[row])
        np.testing.assert_array_equal(alone.band_keys.keys[0], together.band_keys.keys[row])


def test_texts_of_one_normal_form_are_one_content() -> None:
    one, other = sketch([Document("a", TEXT), Document("b", TEXT.upper().replace(" ", "\n"))], Params()).digests
    assert one.tobytes() == other.tobytes() != bytes(16)


def test_the_estimate_of_a_near_duplicate_is_close_to_its_exact_similarity() -> None:
    original = " ".join(f"word{i}" for i in range(500))
    changed = original.replace("word250", "other")
    sketches = sketch([Document("a", original), Document("b", changed)], Params())
    one, other = (Signatures(sketches.signatures.minima[[row]], "fss1") for row in (0, 1))
    exact = (496 - 5) / (496 + 5)
    assert abs(estimate(one, other)[0] - exact) <= 4 * np.sqrt(exact * (1 - exact) / 100)


def test_features_in_another_order_or_repeated_are_the_same_content() -> None:
    documents = [Document("a", features=("x", "y", "z")), Document("b", features=("z", "x", "y", "x"))]
    one, other = sketch(documents, Params(shingle="set")).digests
    assert one.tobytes() == other.tobytes()


def test_repeats_of_features_count_in_a_multiset_index() -> None:
    documents = [Document("a", features=("x", "y")), Document("b", features=("y", "x", "x"))]
    sketches = sketch(documents, Params(shingle="set", multiset=True))
    assert sketches.num_shingles.tolist() == [2, 3]
    assert sketches.digests[0].tobytes() != sketches.digests[1].tobytes()


def test_features_are_case_sensitive_and_not_normalised() -> None:
    sets = shingle_sets(["A\na\n\ufb01\nfi"], Params(shingle="set"))
    assert sets.sizes.tolist() == [4]


def test_the_text_of_a_set_is_its_sorted_features_one_per_line() -> None:
    document = Document("a", features=("pear", "Apple", "pear"))
    assert text_of(document, Params(shingle="set")) == "Apple\npear"
    assert text_of(document, Params(shingle="set", multiset=True)) == "Apple\npear\npear"


def test_a_set_without_features_is_empty() -> None:
    sketches = sketch([Document("a", features=())], Params(shingle="set"))
    assert (sketches.num_shingles.tolist(), sketches.digests[0].tobytes()) == ([0], bytes(16))


@pytest.mark.parametrize(
    ("document", "shingle", "reason"),
    [
        (Document("a", "a text"), "set", "sets of features"),
        (Document("a", features=("x",)), "word:5", "holds texts"),
        (Document("a", features=("x", "")), "set", "empty"),
        (Document("a", features=("x\ny",)), "set", "line end"),
    ],
)
def test_a_document_that_does_not_fit_the_index_is_bad(document: Document, shingle: str, reason: str) -> None:
    with pytest.raises(BadDocument, match=reason):
        sketch([document], Params(shingle=shingle))


def test_the_error_of_a_bad_document_names_its_place() -> None:
    document = Document("a", "a text", source="file:///crawl.jsonl", locator="line 3")
    with pytest.raises(BadDocument, match=r"^file:///crawl\.jsonl, line 3: ") as caught:
        text_of(document, Params(shingle="set"))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("text", ["", "a", TEXT * 100, "\u4e2d\U0001f680\x00", "lone \ud800 surrogate"])
def test_a_packed_text_comes_back(text: str) -> None:
    assert unpack(pack(encode(text))) == text
    assert unpack_utf8(pack(encode(text))) == encode(text)


def test_shingle_sets_do_not_depend_on_the_size_of_the_parts() -> None:
    texts = [TEXT * 3, "", "short", TEXT[:40], "\u4e2d\u6587" * 9, TEXT.upper(), ""]
    whole = shingle_sets(texts, Params())
    assert len(whole) == len(texts)
    for part_bytes in (1, 40, 100):
        parts = shingle_sets_utf8([encode(text) for text in texts], Params(), part_bytes)
        assert parts.hashes.tolist() == whole.hashes.tolist()
        assert parts.offsets.tolist() == whole.offsets.tolist()
    assert len(shingle_sets([], Params())) == 0


@pytest.mark.parametrize("damaged", [b"\xff", b"words \xe2\x82", b"\xf8\x88\x80\x80\x80"])
def test_a_frame_that_is_not_utf8_never_reaches_a_kernel(damaged: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        unpack_utf8(pack(damaged))


def test_threads_sketch_at_once() -> None:
    documents = [Document(str(i), f"{TEXT} {i}") for i in range(200)]
    expected = sketch(documents, Params())
    with ThreadPoolExecutor(4) as threads:
        for sketches in threads.map(lambda _: sketch(documents, Params()), range(8)):
            np.testing.assert_array_equal(sketches.band_keys.keys, expected.band_keys.keys)
            assert sketches.texts == expected.texts
