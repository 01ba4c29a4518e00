SELECT left_document.doc_id AS "left", right_document.doc_id AS "right", %(param_1)s AS similarity, true AS exact, left_document.collection AS left_collection, right_document.collection AS right_collection
FROM document AS right_document JOIN document AS left_document ON left_document.doc_key = (SELECT min(first.doc_key) AS min_1
FROM document AS first
WHERE first.content_key = right_document.content_key AND first.collection = %(left_collection)s::VARCHAR COLLATE "C")
WHERE right_document.doc_key = (SELECT min(first.doc_key) AS min_2
FROM document AS first
WHERE first.content_key = right_document.content_key AND first.collection = %(right_collection)s::VARCHAR COLLATE "C") ORDER BY right_document.content_key, right_document.doc_key
