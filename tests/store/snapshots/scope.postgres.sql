SELECT document.doc_key, document.collection, document.doc_id, document.content_key
FROM document
WHERE %(within)s::VARCHAR COLLATE "C" IS NULL OR document.collection = %(within)s::VARCHAR COLLATE "C" ORDER BY document.doc_key
