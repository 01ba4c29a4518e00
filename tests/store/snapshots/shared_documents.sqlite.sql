SELECT left_document.doc_id AS "left", right_document.doc_id AS "right", ? AS similarity, 1 AS exact, left_document.collection AS left_collection, right_document.collection AS right_collection
FROM document AS left_document JOIN document AS right_document ON left_document.content_key = right_document.content_key
WHERE (left_document.collection || ?) = ? AND (right_document.collection || ?) = ? ORDER BY left_document.content_key, left_document.doc_key, right_document.doc_key
