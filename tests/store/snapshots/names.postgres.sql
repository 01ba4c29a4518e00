SELECT document.doc_key, (SELECT collection.name
FROM collection
WHERE collection.collection_key = document.collection_key) AS collection, document.doc_id
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN document ON document.doc_key = given.value ORDER BY given.value
