"""`filter --without-boilerplate`: what is taken out of the texts, and that nothing else changes."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb import FilterOptions, FilterReport, Index, IngestOptions, PassagesMissing, ReadOptions, UsageError
from lshdb.clusters.rows.boilerplate import FrequentPassages, Tally
from lshdb.clusters.rows.folder import OutFolder
from lshdb.clusters.rows.options import Taken, TakenPassage
from lshdb.clusters.rows.rewriting import csv_fields, json_fields
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.passages import frequent
from lshdb.passages.frequent import _Counts, frequent_ngrams
from lshdb.sketch.texts import encode
from lshdb.sketch.words import ngrams, words
from lshdb.tuning.choice import params_of
from tests.passages.corpora import PARAMS, N, Words, corpora, refill

FOOTER = "all rights reserved by the owners of it"
BY_THREE = FilterOptions(without_boilerplate=3)


def body(number: int) -> str:
    return " ".join(f"w{number}x{place}" for place in range(20))


def filtered(url: str, source: Path, out: Path, read: ReadOptions | None = None) -> FilterReport:
    """Ingest a file into an index with passages, and filter it."""
    with Index.ensure(url, {"passages": N}) as index:
        index.ingest(source, IngestOptions(read=read or ReadOptions()))
        return index.filter(source, out, options=BY_THREE)


def test_a_shared_passage_is_cut_out_of_json_lines_and_no_other_byte_changes(url: str, tmp_path: Path) -> None:
    before = [
        f'{{"n": NaN, "text": "{body(1)} {FOOTER}.", "id": "a"}}\r\n',
        "\n",
        f'{{"id" : "b", "text": "\\u00c9t\\u00e9 \\ud83d\\ude00 {body(2)} \\"{FOOTER.upper()}\\" \\/", '
        f'"x": "{FOOTER}"}}\n',
        f'{{"id": "c", "text": "{body(3)}", "deep": {{"text": "{FOOTER}"}}}}\n',
        f'{{"text": "é {FOOTER}, {body(4)}\\n", "id": "d"}}',
    ]
    after = [
        before[0].replace(FOOTER, ""),
        before[1],
        before[2].replace(FOOTER.upper(), ""),
        before[3],
        before[4].replace(FOOTER, ""),
    ]
    source = tmp_path / "in.jsonl"
    source.write_bytes("".join(before).encode())
    report = filtered(url, source, tmp_path / "out")
    assert (tmp_path / "out" / "in.jsonl").read_bytes() == "".join(after).encode()
    assert report.taken == Taken(3, 3, 24, 3 * len(FOOTER), 0, (TakenPassage(FOOTER, 8, 3),))
    assert report.counts.num_kept == 4


def test_bytes_that_are_not_utf_8_stay_as_they_are(url: str, tmp_path: Path) -> None:
    lines = [
        b'{"id": "%d", "text": "\xff %s \xe9 %s \xfe"}\n' % (n, body(n).encode(), FOOTER.encode()) for n in range(3)
    ]
    (tmp_path / "in.jsonl").write_bytes(b"".join(lines))
    filtered(url, tmp_path / "in.jsonl", tmp_path / "out")
    assert (tmp_path / "out" / "in.jsonl").read_bytes() == b"".join(lines).replace(FOOTER.encode(), b"")


def test_of_several_and_nested_fields_only_the_texts_are_cut(url: str, tmp_path: Path) -> None:
    # The passage begins in one field and ends in the next.
    begin, end = FOOTER.rsplit(" ", 3)[0], " ".join(FOOTER.rsplit(" ", 3)[1:])
    lines = [
        json.dumps({"id": str(n), "meta": {"body": f"{end} {body(n)}", "x": FOOTER}, "title": f"T{n}: {begin}"})
        for n in range(3)
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    report = filtered(url, tmp_path / "in.jsonl", tmp_path / "out", ReadOptions(text_field=("title", "meta.body")))
    expected = [
        json.dumps({"id": str(n), "meta": {"body": f" {body(n)}", "x": FOOTER}, "title": f"T{n}: "}) for n in range(3)
    ]
    assert (tmp_path / "out" / "in.jsonl").read_text() == "\n".join(expected)
    assert report.taken is not None
    assert (report.taken.num_records, report.taken.num_runs) == (3, 3)


@pytest.mark.parametrize(("name", "delimiter"), [("in.csv", ","), ("in.tsv", "\t")])
def test_cells_keep_their_quotes_and_all_other_cells_their_bytes(
    url: str, tmp_path: Path, name: str, delimiter: str
) -> None:
    rows = [
        ["id", "extra", "text"],
        ["a", FOOTER, f"{body(1)} {FOOTER}"],
        ["b", '"x"', f'"{body(2)}" says: "{FOOTER}"'],
        ["c", "two\r\nlines", f"{FOOTER}\n{body(3)}"],
        ["d", "", body(4)],
    ]
    raw = io.StringIO()
    csv.writer(raw, delimiter=delimiter).writerows(rows)
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + raw.getvalue().encode())
    filtered(url, tmp_path / name, tmp_path / "out")
    # The cell `extra` of the first row comes before the texts.
    expected = raw.getvalue().replace(FOOTER, "").replace(f"\na{delimiter}", f"\na{delimiter}{FOOTER}")
    assert (tmp_path / "out" / name).read_bytes() == b"\xef\xbb\xbf" + expected.encode()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string())])
@pytest.mark.parametrize("is_nested", [False, True])
def test_rows_of_parquet_keep_their_types_and_other_columns(
    url: str, tmp_path: Path, kind: pa.DataType, is_nested: bool
) -> None:
    texts = [f"{body(n)} {FOOTER}" for n in range(3)] + [None, body(4)]
    values = pa.array([None if one is None else one.encode() for one in texts], pa.binary())
    column = values.cast(kind) if not pa.types.is_dictionary(kind) else values.cast(pa.string()).dictionary_encode()
    if is_nested:
        column = pa.StructArray.from_arrays([column, values], ["text", "other"])
    name = "doc" if is_nested else "text"
    table = pa.table({"id": list("abcde"), name: column, "copy": values})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=2)
    read = ReadOptions(text_field="doc.text" if is_nested else "text")
    filtered(url, tmp_path / "in.parquet", tmp_path / "out", read)
    after = pq.read_table(tmp_path / "out" / "in.parquet")
    assert after.schema.equals(pq.read_table(tmp_path / "in.parquet").schema, check_metadata=True)
    expected: list[dict[str, Any]] = table.to_pylist()
    for row in expected[:3]:
        place = row[name] if is_nested else row
        text = place["text"]
        place["text"] = text.replace(FOOTER.encode() if isinstance(text, bytes) else FOOTER, text[:0])
    assert after.to_pylist() == expected


def test_a_record_of_boilerplate_alone_is_not_written(url: str, tmp_path: Path) -> None:
    texts = {**{f"d{n}": f"{body(n)} {FOOTER}" for n in range(3)}, "bare": f"({FOOTER})"}
    (tmp_path / "in.jsonl").write_text(
        "".join(json.dumps({"id": one, "text": text}) + "\n" for one, text in texts.items())
    )
    report = filtered(url, tmp_path / "in.jsonl", tmp_path / "out")
    written = (tmp_path / "out" / "in.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in written] == ["d0", "d1", "d2"]
    assert report.taken is not None
    assert (report.taken.num_emptied, report.counts.num_kept) == (1, 4)


def test_what_is_taken_out_of_several_files_is_added_up(url: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for n in range(3):
        (folder / f"{n}.jsonl").write_text(json.dumps({"id": f"d{n}", "text": f"{body(n)} {FOOTER}"}) + "\n")
    report = filtered(url, folder, tmp_path / "out")
    assert report.taken == Taken(3, 3, 24, 3 * len(FOOTER), 0, (TakenPassage(FOOTER, 8, 3),))


def test_copies_of_a_document_do_not_make_its_text_boilerplate(url: str, tmp_path: Path) -> None:
    lines = [json.dumps({"id": f"copy {n}", "text": body(0)}) + "\n" for n in range(5)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    report = filtered(url, tmp_path / "in.jsonl", tmp_path / "out")
    assert (tmp_path / "out" / "in.jsonl").read_text() == lines[0]
    assert report.taken == Taken()


def test_words_that_would_run_together_get_a_space(url: str, tmp_path: Path) -> None:
    lines = [f'{{"id": "{n}", "text": "{body(n)}水火木金土日月{body(n + 9)}"}}\n' for n in range(3)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    filtered(url, tmp_path / "in.jsonl", tmp_path / "out")
    assert (tmp_path / "out" / "in.jsonl").read_text() == "".join(lines).replace("水火木金土日月", " ")


def test_a_filter_that_is_broken_off_ends_and_reports_as_one_that_is_not(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number in range(3):
        (source / f"{number}.jsonl").write_text(json.dumps({"id": str(number), "text": f"{body(number)} {FOOTER}"}))
    at_once = filtered(url, source, tmp_path / "at once")
    complete = OutFolder.complete

    def broken(self: OutFolder, shard: Any, *others: Any) -> None:
        if shard.relative == Path("1.jsonl"):
            raise KeyboardInterrupt
        complete(self, shard, *others)

    with Index.open(url) as index:
        monkeypatch.setattr(OutFolder, "complete", broken)
        with pytest.raises(KeyboardInterrupt):
            index.filter(source, tmp_path / "out", options=BY_THREE)
        assert [path.name for path in (tmp_path / "out").glob("*.jsonl")] == ["0.jsonl"]
        monkeypatch.undo()
        continued = index.filter(source, tmp_path / "out", options=BY_THREE)
        assert (continued.num_present, continued.taken) == (1, at_once.taken)
        for path in (tmp_path / "at once").glob("*.jsonl"):
            assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()
        # Without the option, the same folder gets the whole records.
        index.filter(source, tmp_path / "out")
    assert (tmp_path / "out" / "0.jsonl").read_bytes() == (source / "0.jsonl").read_bytes()


def test_what_cannot_be_rewritten_is_refused(url: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<p>{body(1)}</p>")
    html = [json.dumps({"id": str(n), "text": f"<p>{body(n)}</p>"}) + "\n" for n in range(3)]
    (tmp_path / "in.jsonl").write_text("".join(html))
    with Index.create(url) as index:
        index.ingest(tmp_path / "page.html")
        with pytest.raises(PassagesMissing):
            index.filter(tmp_path / "page.html", tmp_path / "out", options=BY_THREE)
        index.build_passages(N)
        with pytest.raises(UsageError, match=r"many records, not .*page.html; leave it out with --exclude"):
            index.filter(tmp_path / "page.html", tmp_path / "out", options=BY_THREE)
        index.ingest(tmp_path / "in.jsonl", IngestOptions(read=ReadOptions(text_format="html")))
        with pytest.raises(UsageError, match=r"cannot rewrite the texts of .*in.jsonl"):
            index.filter(tmp_path / "in.jsonl", tmp_path / "out", options=BY_THREE)
    with pytest.raises(UsageError, match="not for --dropped"):
        FilterOptions(dropped=True, without_boilerplate=3)


def in_many(corpus: list[Words], least: int) -> set[tuple[str, ...]]:
    counts = Counter(run for text in corpus for run in {tuple(text[i : i + N]) for i in range(len(text) - N + 1)})
    return {run for run, number in counts.items() if number >= least}


def left_by_brute_force(text: Words, frequent: set[tuple[str, ...]]) -> Words:
    gone = {i + place for i in range(len(text)) if tuple(text[i : i + N]) in frequent for place in range(N)}
    return [word for place, word in enumerate(text) if place not in gone]


def test_the_passages_taken_out_are_those_of_brute_force(url: str) -> None:
    with Index.create(url, PARAMS) as index:

        @settings(max_examples=10)
        @given(corpora, st.integers(2, 3), st.sampled_from([1, 10_000]))
        def check(corpus: list[Words], least: int, held_bytes: int) -> None:
            refill(index, corpus)
            texts = [" ".join(one) for one in corpus]
            with index._store.reading() as snapshot:
                keys = snapshot.connection.exec_driver_sql("SELECT content_key FROM content ORDER BY 1").scalars().all()
                found = frequent_ngrams(
                    snapshot, index.params, np.array(keys), least, Progress(), held_bytes=held_bytes
                )
            expected = in_many(corpus, least)
            hashes = [
                ngrams(words([encode(" ".join(run))], index.params.seed).forms, N, 1).hashes[0] for run in expected
            ]
            assert found.tolist() == sorted(map(int, hashes))
            for text, edits in zip(
                texts, FrequentPassages(found, index.params).edits([[t] for t in texts], Tally()), strict=True
            ):
                left = text if edits is None else cut(text, edits.spans[0], edits.filler)
                assert left.split() == left_by_brute_force(text.split(), expected)

        check()


def test_the_ngrams_of_so_many_bytes_of_text_are_held_at_a_time(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = []

    def recorded(texts: Sequence[bytes], seed: int) -> object:
        held.append(len(texts))
        return words(texts, seed)

    monkeypatch.setattr(frequent, "words", recorded)
    with Index.create(url, PARAMS) as index:
        refill(index, [["a"] * 50 + [f"b{number}"] for number in range(7)])
        for held_bytes, expected in ((10_000, [7]), (250, [3, 3, 1]), (1, [1] * 7)):
            with index._store.reading() as snapshot:
                frequent_ngrams(snapshot, index.params, np.arange(1, 1_000), 2, Progress(), held_bytes=held_bytes)
            assert held == expected
            held.clear()


def cut(text: str, spans: tuple[tuple[int, int], ...], filler: str) -> str:
    bounds = [0, *(bound for span in spans for bound in span), len(text)]
    return filler.join(text[start:stop] for start, stop in zip(bounds[::2], bounds[1::2], strict=True))


@given(st.text(max_size=12), st.text(max_size=5), st.booleans())
def test_each_character_of_a_field_is_found_in_its_notation(value: str, other: str, is_ascii: bool) -> None:
    record = json.dumps({"other": other, "text": value}, ensure_ascii=is_ascii)
    (found,) = json_fields(record, ReadOptions())
    place = found.places(record)
    assert found.value == value
    pieces = [record[place(i) : place(i + 1)] for i in range(len(value))]
    assert [json.loads(f'"{piece}"') for piece in pieces] == list(value)
    row = io.StringIO()
    csv.writer(row).writerow([other, value])
    if value.strip("\r\n") and other.strip("\r\n"):
        (cell,) = csv_fields(b"id,text\r\n", ",", ReadOptions())(row.getvalue())
        place = cell.places(row.getvalue())
        assert cell.value == value
        assert [row.getvalue()[place(i)] for i in range(len(value))] == list(value)


def test_counts_of_ngrams_add_up_over_parts() -> None:
    counts = _Counts()
    for hashes, texts in (([7, 7, 5], [0, 0, 1]), ([5, 7], [0, 1]), ([], [])):
        counts.add(np.array(hashes, np.uint64), np.array(texts, np.int64))
        counts._merge()
    assert counts.at_least(2).tolist() == [5, 7]
    assert counts.at_least(3).tolist() == []


def test_a_passage_keeps_the_words_that_share_a_character_with_others() -> None:
    # One half is two words, 1 and 2, which come from one character.
    params: Params = params_of({"passages": 3})
    text = "a b ½ c"
    forms = words([encode("a b 1")], params.seed).forms
    passages = FrequentPassages(ngrams(forms, 3, params.seed).hashes, params)
    (edits,) = passages.edits([[text]], Tally())
    assert edits is not None
    assert cut(text, edits.spans[0], edits.filler) == " ½ c"


def test_passages_without_a_word_between_them_are_one() -> None:
    params: Params = params_of({"passages": 3})
    forms = [words([encode(passage)], params.seed).forms for passage in ("a b c", "d e f")]
    passages = FrequentPassages(np.sort([ngrams(one, 3, params.seed).hashes[0] for one in forms]), params)
    tally = Tally()
    (edits,) = passages.edits([["x a b c d e f y a b c"]], tally)
    assert edits is not None
    assert edits.spans == (((2, 13), (16, 21)),)
    assert tally.taken().num_runs == 2


def test_a_row_of_parquet_without_words_left_is_not_written_and_other_bytes_stay(url: str, tmp_path: Path) -> None:
    texts = [f"{body(n)} ".encode() + b"\xff " + FOOTER.encode() for n in range(3)] + [FOOTER.encode()]
    columns = {"id": list("abcd"), "title": ["A", "B", "C", None], "text": pa.array(texts, pa.binary())}
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    read = ReadOptions(text_field=("title", "text"))
    report = filtered(url, tmp_path / "in.parquet", tmp_path / "out", read)
    written = pq.read_table(tmp_path / "out" / "in.parquet").column("text").to_pylist()
    assert written == [text.replace(FOOTER.encode(), b"") for text in texts[:3]]
    assert report.taken == Taken(4, 4, 32, 4 * len(FOOTER), 1, (TakenPassage(FOOTER, 8, 4),))
