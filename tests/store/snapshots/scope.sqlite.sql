SELECT document.doc_key, document.collection, document.doc_id, document.content_key
FROM document
WHERE ? IS NULL OR document.collection = ? ORDER BY document.doc_key
