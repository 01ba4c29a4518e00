SELECT document.content_key, document.doc_key, document.doc_id, coalesce(document.dated_at, source.mtime_ns / %(mtime_ns_1)s::BIGINT) AS merit
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN document ON document.content_key = given.value LEFT OUTER JOIN source ON source.source_key = document.source_key
WHERE %(within)s::VARCHAR COLLATE "C" IS NULL OR document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(within)s::VARCHAR COLLATE "C") ORDER BY given.key, document.doc_key
