SELECT document.doc_key
FROM document
WHERE (document.doc_id LIKE '%' || ? || '%' ESCAPE '/')
