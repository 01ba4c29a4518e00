"""The views that users may query with sqlite3 or psql, as of the newest revision.

Migrations lead to the same; a test checks that both agree. Any revision may change the tables, but the views only
grow.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

__all__ = ["VIEWS", "definitions"]

# Name -> (comment, SELECT). The text is the same for both databases.
VIEWS: Final = {
    "lshdb_documents": (
        "every document, with its source and the runs that first and last read it",
        """
        SELECT d.doc_id, c.name AS collection, s.uri AS source, d.locator, d.content_key, t.num_shingles,
               d.dated_at, f.started_at AS first_seen_at, l.started_at AS last_seen_at
        FROM document AS d
        JOIN collection AS c ON c.collection_key = d.collection_key
        LEFT JOIN source AS s ON s.source_key = d.source_key
        LEFT JOIN content AS t ON t.content_key = d.content_key
        LEFT JOIN run AS f ON f.run_key = d.first_seen_run
        LEFT JOIN run AS l ON l.run_key = d.last_seen_run""",
    ),
    "lshdb_pairs": (
        "every two documents with one content, and every two documents of a stored pair of contents",
        """
        SELECT d.doc_id AS left_id, e.doc_id AS right_id, CAST(1 AS double precision) AS similarity, true AS exact,
               c.name AS left_collection, b.name AS right_collection
        FROM document AS d
        JOIN document AS e ON e.content_key = d.content_key AND e.doc_key > d.doc_key
        JOIN collection AS c ON c.collection_key = d.collection_key
        JOIN collection AS b ON b.collection_key = e.collection_key
        UNION ALL
        SELECT d.doc_id, e.doc_id, p.similarity, p.exact, c.name, b.name
        FROM pair AS p
        JOIN document AS d ON d.content_key = p.left_key
        JOIN document AS e ON e.content_key = p.right_key
        JOIN collection AS c ON c.collection_key = d.collection_key
        JOIN collection AS b ON b.collection_key = e.collection_key""",
    ),
    "lshdb_buckets": (
        "every content in each of its buckets, in the bands that answer and in those that a reband is writing",
        """
        SELECT 'current' AS banding, b.band - p.first_band AS band, b.bucket_hash, b.content_key
        FROM index_params AS p
        CROSS JOIN bucket_generation AS g
        JOIN band_bucket AS b ON b.generation = g.generation
            AND b.band >= p.first_band AND b.band < p.first_band + p.bands
        UNION ALL
        SELECT 'coming', b.band - r.first_band, b.bucket_hash, b.content_key
        FROM rebanding AS r
        CROSS JOIN bucket_generation AS g
        JOIN band_bucket AS b ON b.generation = g.generation
            AND b.band >= r.first_band AND b.band < r.first_band + r.bands""",
    ),
}


def definitions(dialect: str, there: Collection[str] = ()) -> list[str]:
    """Return the statements that create the views that are not there. Args: dialect: ``sqlite`` or ``postgresql``."""
    found: list[str] = []
    for name, (comment, select) in VIEWS.items():
        if name not in there:
            found.append(f"CREATE VIEW {name} AS{select}")
            if dialect == "postgresql":
                found.append(f"COMMENT ON VIEW {name} IS '{comment}'")
    return found
