SELECT document.doc_key, document.dated_at
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN document ON document.doc_key = given.value
WHERE document.dated_at IS NOT NULL
