SELECT document.doc_key
FROM document
WHERE (document.doc_id LIKE '%%' || %(doc_id_1)s::VARCHAR COLLATE "C" || '%%' ESCAPE '/')
