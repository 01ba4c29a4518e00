"""The SQL of the hot paths: its text for both dialects, and the plans of real databases.

``LSHDB_UPDATE_SNAPSHOTS=1 python -m pytest tests/store/test_statements.py`` rewrites the snapshots.
"""

from __future__ import annotations

import difflib
import inspect
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from sqlalchemy import BigInteger, Connection, bindparam, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect

from lshdb.model.choices import Keep
from lshdb.model.params import Params
from lshdb.model.values import CandidatePairs, Document, Signatures, VerifiedPairs
from lshdb.sketch.banding import band_keys
from lshdb.store.schema import band_bucket, content, content_text, document, metadata, pair, source, unlinked
from lshdb.store.statements import audit as audit_statements
from lshdb.store.statements import captures as capture_statements
from lshdb.store.statements import clusters as cluster_statements
from lshdb.store.statements import decisions as decision_statements
from lshdb.store.statements import document_pairs, rules, statements
from lshdb.store.statements import locators as locator_statements
from lshdb.store.statements import passages as passage_statements
from lshdb.store.store import Store
from lshdb.store.tables import (
    answers,
    audit,
    bands,
    buckets,
    captures,
    clusters,
    collections,
    documents,
    graph,
    identities,
    inspection,
    locators,
    lost,
    measurements,
    oversized,
    provenance,
    shared_buckets,
    sources,
)
from lshdb.store.tables.answers import Chosen
from lshdb.store.tables.buckets import bucket_rows, buckets_of, put_rows
from lshdb.store.tables.captures import Range
from lshdb.store.tables.sources import SourceState
from lshdb.store.transaction import Transaction
from tests.conftest import Schemas
from tests.store.conftest import new_store_at, possible, sketches_of
from tests.store.hearing import heard

SNAPSHOTS = Path(__file__).parent / "snapshots"
UPDATE_VARIABLE = "LSHDB_UPDATE_SNAPSHOTS"
DIALECTS: dict[str, Dialect] = {
    "sqlite": sqlite.dialect(),
    "postgres": postgresql.psycopg.dialect(),  # type: ignore[no-untyped-call]
}
ARGUMENTS: dict[str, tuple[object, ...]] = {
    "surviving_pairs": (7,),
    "from_sources": ("page_1",),
    "holding": ("page_1",),
    "merits": ("newest",),
    "first_document": (pair.c.left_key,),
    "at_most": (document_pairs.first_documents_pairs(),),
    "sorted_by": (document_pairs.first_documents_pairs(), "similarity"),
}
MODULES = (
    statements,
    cluster_statements,
    document_pairs,
    audit_statements,
    capture_statements,
    decision_statements,
    locator_statements,
    passage_statements,
)


def is_function(member: Any) -> bool:
    """Return whether it is a function, including cached ones."""
    return inspect.isfunction(inspect.unwrap(member))


FUNCTIONS = {
    name: function for module in MODULES for name in module.__all__ if is_function(function := getattr(module, name))
}
OF_COLLECTIONS = {
    f"{function.__name__}_of_collections": partial(function, chosen=True)
    for function in (
        cluster_statements.contents,
        cluster_statements.repeated_contents,
        document_pairs.expanded_pairs,
        document_pairs.first_documents_pairs,
        document_pairs.given_documents_pairs,
        document_pairs.identical_documents,
        document_pairs.repeated_documents,
    )
}
EXPANDED = {
    f"{name}_of_all_documents": partial(document_pairs.given_documents_pairs, expand=True, chosen=chosen)
    for name, chosen in (("given_pairs", False), ("given_pairs_of_collections", True))
}
OF_RULES = {f"breaches_{rule.kind.replace('-', '_')}": partial(rules.breaches, rule) for rule in rules.RULES}
FIRST_ALONE = {"filter_parts_first_alone": partial(statements.filter_parts, first_alone=True)}
COMPILED: dict[str, Callable[..., Any]] = {**FUNCTIONS, **OF_COLLECTIONS, **EXPANDED, **OF_RULES, **FIRST_ALONE}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("function", COMPILED)
def test_a_statement_compiles_to_its_snapshot(function: str, dialect: str) -> None:
    statement = COMPILED[function](*ARGUMENTS.get(function, ()))
    compiled = "\n".join(line.rstrip() for line in str(statement.compile(dialect=DIALECTS[dialect])).splitlines())
    path = SNAPSHOTS / f"{function}.{dialect}.sql"
    if os.environ.get(UPDATE_VARIABLE):
        path.write_text(f"{compiled}\n")
    kept = path.read_text() if path.exists() else ""
    lines = difflib.unified_diff(kept.splitlines(), compiled.splitlines(), "snapshot", "compiled", lineterm="")
    difference = "\n".join(lines)
    assert not difference, f"{path.name} (to accept it, set {UPDATE_VARIABLE}=1)\n{difference}"


def test_every_snapshot_belongs_to_a_statement() -> None:
    expected = {f"{function}.{dialect}.sql" for function in COMPILED for dialect in DIALECTS}
    assert {path.name for path in SNAPSHOTS.iterdir()} == expected


def test_every_public_function_is_a_statement_that_has_a_snapshot() -> None:
    ours = [
        name
        for module in MODULES
        for name, function in inspect.getmembers(module, is_function)
        if not name.startswith("_") and function.__module__ == module.__name__
    ]
    assert sorted(ours) == sorted(FUNCTIONS)


# Plans.

NUM_CONTENTS = 10_000
NUM_DOCUMENTS = 12_000
NUM_PAIRS = 50_000
DELTA = 20
# Factor for additional bucket rows: 1.2 million in total.
NUM_BUCKET_COPIES = 5
# Keys from all over a table: of a range at its start, a merge join would read no more than that.
DIGESTS = np.repeat(np.arange(1, NUM_CONTENTS + 1), 2).view("V16")
SPREAD = np.arange(137, NUM_CONTENTS, 499)
BANDED = Params(keep_text=True)
# Tables that a question about a few rows must never read as a whole.
# Columns in which all rows may have the same value.
UNSELECTIVE = "collection|band"
BIG = {table.name for table in (band_bucket, content, content_text, document, pair, source)}


@dataclass
class Plans:
    """The plans of the recorded statements."""

    statements: list[str] = field(default_factory=list)
    scanned: set[str] = field(default_factory=set)
    sorts: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([*self.statements, *self.steps])


class RolledBack(Exception):
    """End the recording and roll back."""


@contextmanager
def recorded(store: Store) -> Iterator[tuple[Transaction, Plans]]:
    """A transaction that records the plan of each statement just before it runs, and is rolled back at its end."""
    plans = Plans()

    def explain(
        connection: Connection, _cursor: object, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        if not many and re.match(r"SELECT|WITH|INSERT INTO \w+ \([^)]*\) SELECT|UPDATE|DELETE", statement):
            plans.statements.append(statement)
            streams = bool(context.execution_options.get("stream_results"))
            EXPLAIN[connection.dialect.name](connection, statement, parameters, streams, plans)

    with suppress(RolledBack), store.writing() as transaction:
        with heard(transaction, explain):
            yield transaction, plans
        raise RolledBack


def explain_sqlite(connection: Connection, statement: str, parameters: Any, _streams: bool, plans: Plans) -> None:
    cursor = connection.connection.cursor()
    cursor.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
    aliases = aliased(statement)
    for *_, step in cursor.fetchall():
        plans.steps.append(step)
        found = re.match(rf"SCAN (?:TABLE )?(\w+)|SEARCH (?:TABLE )?(\w+) .*\((?:{UNSELECTIVE})=\?\)", step)
        if found:
            alias = found[1] or found[2]
            plans.scanned.add(aliases.get(alias, alias))
        if "TEMP B-TREE" in step:
            plans.sorts.append(step)


def explain_postgres(connection: Connection, statement: str, parameters: Any, streams: bool, plans: Plans) -> None:
    # A cursor is planned for its first rows, which can give another plan.
    declared = f"DECLARE explained CURSOR FOR {statement}" if streams else statement
    cursor = connection.connection.cursor()
    cursor.execute(f"EXPLAIN (FORMAT JSON) {declared}", parameters)
    (answer,) = cursor.fetchone() or ([],)
    nodes = [answer[0]["Plan"]]
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        plans.steps.append(f"{node['Node Type']} {node.get('Relation Name', '')} {node.get('Index Name', '')}")
        if reads_all(node):
            plans.scanned.add(node.get("Relation Name", node.get("Index Name")))


def reads_all(node: dict[str, Any]) -> bool:
    """Return whether a node of a Postgres plan reads a whole table or index."""
    if node["Node Type"] == "Seq Scan":
        return True
    columns = re.findall(r"(\w+)\)?(?:::text)? [=<>]", node.get("Index Cond", ""))
    return "Index" in node["Node Type"] and not set(columns) - set(UNSELECTIVE.split("|"))


EXPLAIN: dict[str, Callable[[Connection, str, Any, bool, Plans], None]] = {
    "sqlite": explain_sqlite,
    "postgresql": explain_postgres,
}


def aliased(statement: str) -> dict[str, str]:
    """Return the tables of the aliases in a statement."""
    return {alias: table for table, alias in re.findall(r"(\w+) AS (\w+)", statement) if table in metadata.tables}


@pytest.fixture(
    scope="module",
    params=[pytest.param("sqlite", marks=pytest.mark.sqlite), pytest.param("postgres", marks=pytest.mark.postgres)],
)
def big_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An index of some ten thousand documents, half of whose contents are paired, and 1.2 million bucket rows."""
    schemas = None
    if request.param == "sqlite":
        url = str(tmp_path_factory.mktemp("plans") / "big.db")
    else:
        schemas = Schemas(request.getfixturevalue("postgres_server"))
        url = schemas.new()
    with new_store_at(url, BANDED) as store:
        with store.writing() as transaction:
            fill(transaction)
        with store.writing() as transaction:
            for table in metadata.tables.values():
                transaction.dialect.analyse(transaction.connection, table)
        yield store
    if schemas:
        schemas.drop()


def minima_of(keys: np.ndarray[Any, np.dtype[np.int64]]) -> Signatures:
    """Return random signatures. One in ten contents has the first band of its neighbour."""
    minima = np.stack([np.random.default_rng(int(key)).integers(0, 2**32, 100, dtype=np.uint32) for key in keys])
    twins = keys % 10 == 1
    for row, key in zip(np.flatnonzero(twins), keys[twins] - 1, strict=True):
        minima[row, :5] = np.random.default_rng(int(key)).integers(0, 2**32, 100, dtype=np.uint32)[:5]
    return Signatures(minima, "fss1")


def fill(transaction: Transaction) -> None:
    """Insert the rows."""
    keys = transaction.allocate(content, NUM_CONTENTS)
    signatures = minima_of(keys)
    transaction.bulk_insert(
        content,
        {
            "content_key": keys,
            "digest": DIGESTS,
            "num_shingles": np.full(NUM_CONTENTS, 100),
            "signature": [row.tobytes() for row in signatures.minima],
        },
    )
    transaction.bulk_insert(content_text, {"content_key": keys, "text": [b"frame" * 40] * NUM_CONTENTS})
    put_rows(transaction, bucket_rows(keys, band_keys(signatures, BANDED.banding)))
    put_rows(transaction, identities.rows_of(keys, DIGESTS))
    fill_buckets(transaction)
    transaction.bulk_insert(unlinked, {"content_key": keys[-DELTA:]})
    fill_documents(transaction, keys)
    left = np.sort(np.random.default_rng(1).choice(NUM_CONTENTS**2 // 8, NUM_PAIRS, replace=False))
    width = NUM_CONTENTS // 4
    transaction.bulk_insert(
        pair,
        {
            "left_key": left // width + 1,
            "right_key": left % width + NUM_CONTENTS // 2 + 1,
            "similarity": np.full(NUM_PAIRS, 0.9),
            "exact": np.ones(NUM_PAIRS, dtype=np.bool_),
            "run_key": np.ones(NUM_PAIRS, dtype=np.int64),
        },
    )


def fill_buckets(transaction: Transaction) -> None:
    """Insert bucket rows of no content, each in a separate bucket."""
    copy = bindparam("copy", type_=BigInteger)
    columns = (
        band_bucket.c.generation,
        band_bucket.c.band,
        band_bucket.c.bucket_hash // 4 + copy * 10**17 + band_bucket.c.content_key * 10**6,
        band_bucket.c.content_key + copy * NUM_CONTENTS,
    )
    copied = insert(band_bucket).from_select(
        list(band_bucket.c.keys()),
        select(*columns).where(band_bucket.c.content_key <= NUM_CONTENTS),
    )
    for number in range(1, NUM_BUCKET_COPIES + 1):
        transaction.execute(copied, {"copy": number})


def fill_documents(transaction: Transaction, keys: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    """Insert one document per content, and a second one for some, each from its own source."""
    doc_keys = transaction.allocate(document, NUM_DOCUMENTS)
    states = [state_of(f"file:///crawl/{key}.txt") for key in doc_keys]
    sources.put(transaction, "default", states, 1)
    transaction.bulk_insert(
        document,
        {
            "doc_key": doc_keys,
            "collection_key": [1] * NUM_DOCUMENTS,
            "doc_id": [f"/crawl/{key}.txt" for key in doc_keys],
            "source_key": doc_keys,
            "locator": [""] * NUM_DOCUMENTS,
            "content_key": np.resize(keys, NUM_DOCUMENTS),
            "first_seen_run": np.ones(NUM_DOCUMENTS, dtype=np.int64),
            "last_seen_run": np.ones(NUM_DOCUMENTS, dtype=np.int64),
        },
    )


def state_of(uri: str) -> SourceState:
    """A file that was read to its end."""
    return SourceState(uri, 100, 1, bytes(16), sources.DONE, 1, 1, "{}", 1)


def new_documents(transaction: Transaction) -> None:
    """Store documents: new ones, and known ones with another content."""
    batch = [Document(f"/crawl/{key}.txt") for key in range(NUM_DOCUMENTS - 10, NUM_DOCUMENTS + 10)]
    sketches = sketches_of([tuple(range(number, number + 100)) for number in range(20)], BANDED)
    documents.put(transaction, batch, sketches, documents.Place(2, "default", {}))


def captures_of_some(transaction: Transaction) -> None:
    """Find the documents that some ranges of ids contain."""
    ranges = [Range(f"/crawl/{key}.txt", f"/crawl/{key}.txt:") for key in (7, 70, 700, NUM_DOCUMENTS + 1)]
    found = captures.last_in(transaction, ranges, "default")
    assert {at: named.doc_id for at, named in found.items()} == {
        0: "/crawl/7.txt",
        1: "/crawl/70.txt",
        2: "/crawl/700.txt",
    }


def older_documents(transaction: Transaction) -> None:
    """Make a document newer, and then store an older record of it."""
    newer, older = Document("/crawl/7.txt", dated_at=2), Document("/crawl/7.txt", dated_at=1)
    place = documents.Place(2, "default", {})
    documents.confirm(transaction, [newer], place)
    assert documents.put_known(transaction, [older], [7], place).counts.num_unchanged == 1


def delta(transaction: Transaction) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Any]:
    """The unlinked contents and their buckets."""
    keys = graph.unlinked_keys(transaction)
    assert len(keys) == DELTA
    return keys, band_keys(minima_of(keys), BANDED.banding)


def delete_contents(transaction: Transaction) -> None:
    """Deletes contents after their documents."""
    keys, buckets = delta(transaction)
    doc_keys = transaction.execute(select(document.c.doc_key).where(document.c.content_key.in_(keys.tolist())))
    documents.remove(transaction, list(doc_keys.scalars()))
    documents.delete_contents(transaction, keys, buckets)


def remove_sources(transaction: Transaction) -> None:
    """Deletes sources after their documents."""
    documents.remove(transaction, sources.documents_of(transaction, SPREAD.tolist()))
    sources.remove(transaction, SPREAD.tolist())


def mates_of_the_delta(transaction: Transaction) -> None:
    mine = buckets_of(delta(transaction)[1])
    assert sum(map(len, buckets.members(transaction, mine))) == 20 * DELTA + 3
    assert buckets.shared_among(transaction, mine).buckets[:, 2].tolist() == [2, 2, 2]


def some_pairs(transaction: Transaction) -> VerifiedPairs:
    pages = [graph.pair_page(transaction, (key, 0), 1) for key in SPREAD.tolist() if key <= NUM_CONTENTS // 2]
    return VerifiedPairs(
        keys=np.concatenate([page.keys for page in pages]),
        similarity=np.concatenate([page.similarity for page in pages]),
        exact=np.concatenate([page.exact for page in pages]),
    )


def merits_of_each_policy(transaction: Transaction) -> None:
    for keep in get_args(Keep):
        assert sum(len(some.doc_keys) for some in clusters.merits(transaction, SPREAD, keep, None)) >= len(SPREAD)


def put_hot_bucket_of_the_delta(transaction: Transaction) -> None:
    columns = bucket_rows(*delta(transaction))
    oversized.put(transaction, np.array([[columns["band"][0], columns["bucket_hash"][0], 2]]))


def relink_the_delta(transaction: Transaction) -> None:
    put_hot_bucket_of_the_delta(transaction)
    oversized.relink(transaction, delta(transaction)[1])
    assert not oversized.exist(transaction)


def hot_mates_of_the_delta(transaction: Transaction) -> None:
    put_hot_bucket_of_the_delta(transaction)
    hot, hot_ones = collections.oversized_contents(transaction, *delta(transaction))
    assert len(hot) >= 1
    assert sum(map(len, collections.oversized_mates(transaction, hot_ones, "default"))) >= 1


def places_of_some(transaction: Transaction) -> None:
    """Find sources, and where their documents are."""
    uris = [f"file:///crawl/{key}.txt" for key in SPREAD]
    found = list(locators.sources_at(transaction, "default", uris))
    assert len(found) == len(SPREAD)
    assert locators.whole_files(transaction, [one.source_key for one in found]) == {key: key for key in SPREAD}
    assert [(keys.tolist(), places) for keys, places in locators.named_records(transaction, found[0])] == [
        ([found[0].source_key], ("",))
    ]
    assert [len(block) for block in locators.numbered_records(transaction, found[0], "line")] == []
    assert list(locators.rejected_records(transaction, found)) == []
    assert list(locators.rejected_before(transaction, "default", run_key=2, since=1)) == []
    kept = locators.kept_documents(transaction, SPREAD)
    assert [one.uri for one in kept.values()] == uris
    assert locators.doc_keys(transaction, "default", ["/crawl/7.txt", "no such id"]) == {"/crawl/7.txt": 7}
    assert list(locators.documents_like(transaction, found[0].source_key, ["/crawl/7.txt"])) == ["/crawl/7.txt"]


def documents_of_some_pairs(transaction: Transaction) -> None:
    pairs = some_pairs(transaction)
    for expand in (False, True):
        for between in (None, ("default", "default"), ("default", "other")):
            rows = list(answers.pairs_of_documents(transaction, pairs, expand=expand, between=between))
            assert bool(rows) == (between != ("default", "other"))


def pairs_of_a_linked_text(transaction: Transaction) -> None:
    transaction.execute(delete(unlinked))
    buckets_of_it = band_keys(minima_of(np.array([7])), BANDED.banding)
    places = possible(transaction, identities.buckets_of(DIGESTS[6:7]))
    assert answers.settled(transaction, DIGESTS[6].tobytes(), places, buckets_of_it, 0.8)


def content_with_a_digest(transaction: Transaction) -> None:
    assert identities.content_with(transaction, DIGESTS[6].tobytes()) == 7


def contents_with_digests(transaction: Transaction) -> None:
    assert identities.known(transaction, DIGESTS[:100]).tolist() == list(range(1, 101))


SMALL_QUESTIONS: dict[str, Callable[[Transaction], object]] = {
    "identities.content_with": content_with_a_digest,
    "identities.known": contents_with_digests,
    "graph.contents_in": lambda transaction: list(
        graph.contents_in(transaction, band_keys(minima_of(SPREAD), BANDED.banding))
    ),
    "inspection.stored_pair": lambda transaction: inspection.stored_pair(transaction, 7_000, 70),
    "inspection.unlinked_among": lambda transaction: inspection.unlinked_among(transaction, SPREAD.tolist()),
    "oversized.among": lambda transaction: oversized.among(
        transaction, buckets_of(band_keys(minima_of(np.array([40])), BANDED.banding))
    ),
    "buckets.first_in": lambda transaction: buckets.first_in(transaction, 0, 1, 20),
    "inspection.first_document": lambda transaction: inspection.first_document(transaction, 7),
    "locators": places_of_some,
    "lost.sources": lambda transaction: list(lost.sources(transaction, SPREAD)),
    "documents.put": new_documents,
    "documents.put_known": older_documents,
    "captures.last_in": captures_of_some,
    "captures.dated": lambda transaction: list(
        captures.dated(transaction, "default", Range("/crawl/7.txt", "/crawl/7.txt:"))
    ),
    "documents.remove": lambda transaction: documents.remove(transaction, SPREAD.tolist()),
    "documents.orphans": lambda transaction: documents.orphans(transaction, SPREAD),
    "documents.delete_contents": delete_contents,
    "buckets.members": mates_of_the_delta,
    "graph.candidates_at": lambda transaction: graph.candidates_at(
        transaction, possible(transaction, band_keys(minima_of(np.array([40])), BANDED.banding))
    ),
    "graph.signatures": lambda transaction: graph.signatures(transaction, SPREAD),
    "graph.texts": lambda transaction: list(graph.texts(transaction, SPREAD)),
    "graph.pair_page": some_pairs,
    "graph.put_pairs": lambda transaction: graph.put_pairs(transaction, some_pairs(transaction), 2),
    "graph.change_pairs": lambda transaction: graph.change_pairs(transaction, some_pairs(transaction)),
    "graph.delete_pairs": lambda transaction: graph.delete_pairs(transaction, some_pairs(transaction)),
    "oversized.relink": relink_the_delta,
    "graph.unlinked_keys": graph.unlinked_keys,
    "graph.mark_unlinked": lambda transaction: graph.mark_unlinked(transaction, SPREAD),
    "graph.mark_linked": lambda transaction: graph.mark_linked(transaction, SPREAD),
    "oversized.put": lambda transaction: oversized.put(transaction, np.ones((1, 3), dtype=np.int64)),
    "audit.next_contents": lambda transaction: audit.next_contents(transaction, 500, 20),
    "audit.contents": lambda transaction: audit.contents(transaction, SPREAD),
    "audit.missing_buckets": lambda transaction: audit.missing_buckets(transaction, *delta(transaction)),
    "bands.next_contents": lambda transaction: bands.next_contents(transaction, 500, 20),
    "documents.delete_buckets": lambda transaction: documents.delete_buckets(transaction, *delta(transaction)),
    "measurements.pairs_of": lambda transaction: measurements.pairs_of(transaction, SPREAD),
    "provenance.documents": lambda transaction: provenance.documents(transaction, 1, ["/crawl/7.txt"]),
    "sources.known": lambda transaction: sources.known(transaction, "default", ["file:///crawl/7.txt"]),
    "sources.see": lambda transaction: sources.see(transaction, "default", [state_of("file:///crawl/7.txt")], 2),
    "sources.put": lambda transaction: sources.put(transaction, "default", [state_of("file:///crawl/7.txt")], 2),
    "sources.see_under": lambda transaction: sources.see_under(transaction, "default", "file:///crawl/77", 2),
    "sources.seen": lambda transaction: sources.seen(transaction, "default", "file:///crawl/77", 2),
    "sources.gone": lambda transaction: sources.gone(transaction, "default", "file:///crawl/77", 2),
    "sources.vanished": lambda transaction: sources.vanished(transaction, SPREAD.tolist(), 9),
    "sources.spared": lambda transaction: sources.spared(transaction, SPREAD.tolist()),
    "sources.remove": remove_sources,
    "clusters.merits": merits_of_each_policy,
    "clusters.known_pairs": lambda transaction: clusters.known_pairs(
        transaction, CandidatePairs(some_pairs(transaction).keys)
    ),
    "clusters.mates": lambda transaction: clusters.mates(transaction, SPREAD, 0.8),
    "clusters.names": lambda transaction: clusters.names(transaction, SPREAD),
    "collections.mates": lambda transaction: list(collections.mates(transaction, SPREAD, "default", 0.8)),
    "collections.oversized_contents": lambda transaction: collections.oversized_contents(
        transaction, *delta(transaction)
    ),
    "collections.oversized_mates": hot_mates_of_the_delta,
    "answers.documents_of": lambda transaction: list(answers.documents_of(transaction, SPREAD)),
    "answers.content_of": lambda transaction: answers.content_of(transaction, "default", "/crawl/7.txt"),
    "locators.doc_keys": lambda transaction: locators.doc_keys(transaction, "default", ["/crawl/7.txt"]),
    "answers.pairs_of_documents": documents_of_some_pairs,
    "answers.settled": pairs_of_a_linked_text,
    "answers.neighbours": lambda transaction: answers.neighbours(transaction, 7, 0.8),
}


@pytest.mark.parametrize("question", SMALL_QUESTIONS)
def test_a_question_about_a_few_rows_scans_no_big_table(question: str, big_store: Store) -> None:
    with recorded(big_store) as (transaction, plans):
        SMALL_QUESTIONS[question](transaction)
    assert plans.statements
    assert not plans.scanned & BIG, str(plans)


@pytest.mark.parametrize("expand", [False, True])
def test_the_pairs_are_read_in_order_and_each_document_by_its_content(expand: bool, big_store: Store) -> None:
    """Read the pairs once, in the order of storage, which is the order of printing."""
    with recorded(big_store) as (transaction, plans):
        rows = list(answers.pairs(transaction, Chosen(0.8), expand=expand))
    assert len(rows) >= NUM_PAIRS + NUM_DOCUMENTS - NUM_CONTENTS
    if transaction.connection.dialect.name == "sqlite":
        assert plans.sorts == [], plans


@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize("ask", ["pairs within", "pairs between"])
def test_the_pairs_of_collections_are_read_in_order_too(ask: str, expand: bool, big_store: Store) -> None:
    with recorded(big_store) as (transaction, plans):
        if ask == "pairs within":
            rows = answers.pairs(transaction, Chosen(0.8), expand=expand, within="default")
        else:
            rows = answers.pairs_between(transaction, Chosen(0.8), "default", "other", expand=expand)
        assert bool(list(rows)) == (ask == "pairs within")
    if transaction.connection.dialect.name == "sqlite":
        assert plans.sorts == [], plans


def test_a_collection_is_named_if_the_index_of_ids_has_one_of_it(big_store: Store) -> None:
    with recorded(big_store) as (transaction, plans):
        assert collections.names(transaction) == ["default"]
    if transaction.connection.dialect.name == "sqlite":
        (step,) = (step for step in plans.steps if "document" in step)
        assert re.match(r"SEARCH (TABLE )?document (EXISTS )?USING .*\(collection_key=\?\)", step), plans


def test_a_collection_is_paged_in_the_order_of_its_ids_without_sorting(big_store: Store) -> None:
    with recorded(big_store) as (transaction, plans):
        pages = list(collections.document_pages(transaction, "default", 5_000))
    assert [len(page) for page in pages] == [5_000, 5_000, 2_000]
    assert plans.sorts == [], plans


@pytest.mark.parametrize("num_slices", [1, 3])
def test_the_shared_buckets_of_a_band_are_read_once_without_a_join(
    num_slices: int, big_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_buckets, "FETCH_ROWS", NUM_CONTENTS // num_slices + 1)
    with recorded(big_store) as (transaction, plans):
        rows = np.concatenate(list(shared_buckets.of_band(transaction, 0)))
    assert len(rows) == 2 * (NUM_CONTENTS // 10 - 1)
    if transaction.connection.dialect.name == "sqlite":
        assert plans.sorts == [], plans
        # Slices of this band, nothing of the others. Of several, first the limits.
        searched = [step for step in plans.steps if "band_bucket" in step]
        assert all("USING PRIMARY KEY (generation=? AND band=?" in step for step in searched), plans
        in_slices = sum("bucket_hash>? AND bucket_hash<?" in step for step in searched)
        assert (in_slices, len(searched) - in_slices) == (num_slices, 2 * (num_slices > 1)), plans
    else:
        assert sum("Aggregate" in step for step in plans.steps) == num_slices, plans
        assert not any("Loop" in step or "Join" in step for step in plans.steps), plans


def test_the_largest_buckets_of_a_band_come_from_its_part_of_the_table(big_store: Store) -> None:
    with recorded(big_store) as (transaction, plans):
        rows = transaction.execute(statements.largest_buckets(), {"band": 0, "count": 3}).all()
        assert [row.num_contents for row in rows] == [2, 2, 2]
    if transaction.connection.dialect.name == "sqlite":
        assert sum("band_bucket USING PRIMARY KEY (generation=? AND band=?" in step for step in plans.steps) == 1, plans
