SELECT document.content_key, document.doc_id, document.collection
FROM (SELECT anon_1.number - 1 AS key, anon_1.value AS value
FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS anon_1(value, number)) AS given JOIN document ON document.content_key = given.value ORDER BY given.value, document.doc_key
