SELECT left_document.doc_id AS "left", right_document.doc_id AS "right", ? AS similarity, 1 AS exact, left_document.collection AS left_collection, right_document.collection AS right_collection
FROM document AS right_document JOIN document AS left_document ON left_document.doc_key = (SELECT min(first.doc_key) AS min_1
FROM document AS first
WHERE first.content_key = right_document.content_key AND first.collection = ?)
WHERE right_document.content_key IS NOT NULL AND right_document.doc_key != left_document.doc_key AND (right_document.collection || ?) = ? ORDER BY right_document.content_key, right_document.doc_key
