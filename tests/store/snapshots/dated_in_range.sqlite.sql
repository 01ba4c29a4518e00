SELECT document.doc_id, document.content_key, document.dated_at, (SELECT source.uri
FROM source
WHERE source.source_key = document.source_key) AS uri, document.locator
FROM document
WHERE document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = ?) AND document.dated_at IS NOT NULL AND document.doc_id >= ? AND document.doc_id < ? ORDER BY document.doc_id
