SELECT first_document.doc_id AS "left", other_document.doc_id AS "right"
FROM document AS other_document JOIN document AS first_document ON first_document.doc_key = (SELECT min(first.doc_key) AS min_1
FROM document AS first
WHERE first.content_key = other_document.content_key)
WHERE other_document.content_key IS NOT NULL AND other_document.doc_key != first_document.doc_key ORDER BY other_document.content_key, other_document.doc_key
