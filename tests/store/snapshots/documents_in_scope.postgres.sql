SELECT document.content_key, count(*) AS num_documents
FROM document
WHERE document.content_key IS NOT NULL AND document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(collection)s::VARCHAR COLLATE "C") AND substr(document.doc_id, %(substr_1)s::INTEGER, length(%(prefix)s::VARCHAR COLLATE "C")) = %(prefix)s::VARCHAR COLLATE "C" GROUP BY document.content_key ORDER BY document.content_key
