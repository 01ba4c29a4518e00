SELECT document.content_key, document.doc_key, document.doc_id, coalesce(document.dated_at, source.mtime_ns / ?) AS merit
FROM json_each(?) AS given JOIN document ON document.content_key = given.value LEFT OUTER JOIN source ON source.source_key = document.source_key
WHERE ? IS NULL OR document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = ?) ORDER BY given."key", document.doc_key
