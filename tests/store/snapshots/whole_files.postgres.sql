SELECT document.source_key, document.doc_key
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN document ON document.source_key = given.value JOIN source ON source.source_key = document.source_key
WHERE document.locator = %(locator_1)s::VARCHAR AND document.last_seen_run >= source.reading_run ORDER BY given.key
