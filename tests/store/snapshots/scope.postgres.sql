SELECT document.doc_key, (SELECT collection.name
FROM collection
WHERE collection.collection_key = document.collection_key) AS collection, document.doc_id, document.content_key
FROM document
WHERE %(within)s::VARCHAR COLLATE "C" IS NULL OR document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(within)s::VARCHAR COLLATE "C") ORDER BY document.doc_key
