"""The oracle of the benchmarks agrees with a naive one, and its words with examples."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from benchmarks.corpora import oracle
from benchmarks.corpora.definition import fold, shingle_sets, words
from benchmarks.runs import recall

Corpus = Sequence[tuple[str, str]]


def naive_shingles(text: str) -> set[tuple[str, ...]]:
    tokens = words(text)
    return {tuple(tokens[i : i + 5]) for i in range(max(len(tokens) - 4, 1))} if tokens else set()


def naive_pairs(corpus: Corpus, min_sim: Fraction) -> dict[tuple[str, str], float]:
    sets = {document_id: shingles for document_id, text in corpus if (shingles := naive_shingles(text))}
    common = {(a, b): (len(sets[a] & sets[b]), len(sets[a] | sets[b])) for a, b in combinations(sorted(sets), 2)}
    return {pair: both / either for pair, (both, either) in common.items() if Fraction(both, either) >= min_sim}


def oracle_pairs(corpus: Corpus, min_sim: Fraction) -> dict[tuple[str, str], float]:
    found = list(oracle.all_pairs(corpus, min_sim))
    pairs = {(pair.left, pair.right): pair.similarity for pair in found}
    assert len(pairs) == len(found)
    return pairs


def edited_corpus(seed: int) -> Corpus:
    """Copies of a few texts with words changed, deleted and moved, and unrelated, tiny and empty texts."""
    rng = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(rng.choice((3, 30, 300)))]
    originals = [rng.choices(vocabulary, k=rng.choice((2, 5, 9, 40, 120))) for _ in range(6)]
    texts = [edited(rng.choice(originals), vocabulary, rng) for _ in range(60)]
    return [(f"d{number}", " ".join(text)) for number, text in enumerate([*texts, [], ["w1"], ["w1"]])]


def edited(tokens: list[str], vocabulary: list[str], rng: random.Random) -> list[str]:
    changed = [rng.choice(vocabulary) if rng.random() < 0.02 else token for token in tokens]
    start = rng.choice((0, 0, 0, 3))
    return changed[start : len(changed) - rng.choice((0, 0, 1, 10))]


@pytest.mark.parametrize("min_sim", ["0.05", "0.3", "0.5", "0.8", "1"])
@pytest.mark.parametrize("seed", range(8))
def test_the_oracle_finds_what_comparing_all_with_all_finds(seed: int, min_sim: str) -> None:
    corpus = edited_corpus(seed)
    assert oracle_pairs(corpus, Fraction(min_sim)) == naive_pairs(corpus, Fraction(min_sim))


def test_pieces_of_a_large_candidate_list_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.corpora.allpairs.MAX_GATHERED", 7)
    corpus = edited_corpus(1)
    assert oracle_pairs(corpus, Fraction(1, 2)) == naive_pairs(corpus, Fraction(1, 2))


def test_a_pair_exactly_at_the_threshold_is_kept() -> None:
    corpus = [("a", " ".join("abcdefghijklm")), ("b", " ".join("abcdefghijkl"))]  # 9 shingles and 8 of them
    assert oracle_pairs(corpus, Fraction(8, 9)) == {("a", "b"): 8 / 9}
    assert oracle_pairs(corpus, Fraction(8, 9) + Fraction(1, 10**9)) == {}


def test_exact_duplicates_are_pairs_of_documents_at_one() -> None:
    text = "the same seven words stand here twice"
    corpus = [("z", text), ("a", text.upper()), ("m", text + "!")]
    assert oracle_pairs(corpus, Fraction(1, 2)) == {("a", "m"): 1.0, ("a", "z"): 1.0, ("m", "z"): 1.0}


def test_every_document_of_a_group_is_paired_with_every_near_duplicate() -> None:
    near = "one two three four five six seven eight nine ten"
    corpus = [("c", near), ("a", near), ("b", near + " eleven")]
    assert oracle_pairs(corpus, Fraction("0.8")) == {("a", "b"): 6 / 7, ("a", "c"): 1.0, ("b", "c"): 6 / 7}


def test_an_empty_document_is_a_duplicate_of_nothing() -> None:
    assert oracle_pairs([("a", ""), ("b", ""), ("c", " .,;\n"), ("d", "word")], Fraction(1, 100)) == {}


def test_a_corpus_without_documents_has_no_pairs() -> None:
    assert oracle_pairs([], Fraction(1, 2)) == {}


def test_a_short_text_is_one_shingle_of_all_its_words() -> None:
    corpus = [("a", "red fish"), ("b", "Red, fish."), ("c", "red"), ("d", "fish red"), ("e", "red fish blue fish two")]
    assert oracle_pairs(corpus, Fraction(1, 100)) == {("a", "b"): 1.0}
    assert shingle_sets([text for _, text in corpus]).sizes.tolist() == [1, 1, 1, 1, 1]


def test_shingles_do_not_reach_from_one_text_into_the_next() -> None:
    sets = shingle_sets(["a b c d e f", "g h", "", "i j k l m"])
    assert sets.sizes.tolist() == [2, 1, 0, 1]
    assert len(set(sets.members.tolist())) == 4


def test_a_repeated_shingle_counts_once() -> None:
    assert shingle_sets(["la " * 50]).sizes.tolist() == [1]


def test_two_documents_with_one_id_are_an_error() -> None:
    with pytest.raises(ValueError, match="same id"):
        oracle_pairs([("a", "x"), ("a", "y")], Fraction(1, 2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's 3.5 snake_case--words!", ["it", "s", "3", "5", "snake_case", "words"]),
        ("هٰذَا كِتَابٌ", ["هٰذَا", "كِتَابٌ"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("北京 2008年", ["北", "京", "2008", "年"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ"]),
        ("ที่ ๒๕", ["ท", "ี", "่", "๒๕"]),
        ("한국어 문서", ["한국어", "문서"]),
        ("ﬁne Ⅳ ①", ["fine", "iv", "1"]),
        ("ΟΔΟΣ οδος οδοσ", ["οδοσ", "οδοσ", "οδοσ"]),
        ("İstanbul STRASSE straße", ["istanbul", "strasse", "straße"]),
        ("soft\u00adhyphen zero\u200bwidth non\u200cjoiner", ["softhyphen", "zero", "width", "nonjoiner"]),
        ("cafe\u0301 CAFÉ", ["café", "café"]),
        ("日本ｶﾞ", ["日", "本", "ガ"]),
        ("\u2764\ufe0f \U0001f600 a", ["a"]),
    ],
)
def test_words_are_cut_as_the_definition_says(text: str, expected: list[str]) -> None:
    assert words(text) == [unicodedata.normalize("NFKC", word) for word in expected]


def test_folding_again_changes_nothing() -> None:
    rng = random.Random(5)
    for _ in range(200):
        text = "".join(chr(rng.choice((rng.randrange(0x300), rng.randrange(0xD800), 0x345, 0x130))) for _ in range(20))
        assert fold(fold(text)) == fold(text)


def test_the_command_writes_one_object_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [{"id": name, "text": "one two three four five six " + name} for name in ("b", "a")]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    arguments = [str(tmp_path / "texts.jsonl"), "--min-sim", "0.5", "--out", str(tmp_path / "pairs.jsonl")]
    assert oracle.main(arguments) == 0
    lines = (tmp_path / "pairs.jsonl").read_text().splitlines()
    assert list(map(json.loads, lines)) == [{"left": "a", "right": "b", "similarity": 0.5}]
    assert "1 pairs with similarity >= 0.5" in capsys.readouterr().err


def test_a_complete_and_exact_answer_passes() -> None:
    pairs = {("a", "b"): 0.9, ("b", "c"): 0.85}
    comparison = recall.compare(pairs, dict(pairs))
    assert (comparison.recall, comparison.precision, comparison.max_difference) == (1.0, 1.0, 0.0)
    assert comparison.passes(min_recall=1.0)


def test_a_missed_pair_lowers_the_recall_and_is_shown() -> None:
    comparison = recall.compare({("a", "b"): 0.9, ("b", "c"): 0.81}, {("a", "b"): 0.9})
    assert comparison.recall == 0.5
    assert not comparison.passes(min_recall=0.999)
    assert recall.histogram(comparison.missed.values()) == ["  0.80 - 0.82         1"]


@pytest.mark.parametrize("found", [{("a", "b"): 0.9 + 1e-9}, {("a", "b"): 0.9, ("a", "c"): 0.95}])
def test_a_wrong_similarity_or_an_invented_pair_does_not_pass(found: recall.Pairs) -> None:
    assert not recall.compare({("a", "b"): 0.9}, found).passes(min_recall=0.0)


def test_the_recall_command_takes_a_pair_from_either_side(tmp_path: Path) -> None:
    true, found = tmp_path / "true.jsonl", tmp_path / "found.jsonl"
    true.write_text('{"left": "a", "right": "b", "similarity": 0.9}\n')
    found.write_text('{"left": "b", "right": "a", "similarity": 0.9, "exact": true}\n')
    assert recall.main([str(true), str(found)]) == 0
    found.write_text("")
    assert recall.main([str(true), str(found)]) == 1


def test_a_pair_that_is_listed_twice_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "twice.jsonl").write_text('{"left": "a", "right": "b", "similarity": 0.9}\n' * 2)
    with pytest.raises(ValueError, match="repeated"):
        recall.read_pairs(tmp_path / "twice.jsonl")
