SELECT left_document.doc_id AS "left", right_document.doc_id AS "right", pair.similarity, pair.exact, left_document.collection AS left_collection, right_document.collection AS right_collection
FROM pair JOIN document AS left_document ON left_document.doc_key = (SELECT min(first.doc_key) AS min_1
FROM document AS first
WHERE first.content_key = pair.left_key AND first.collection = %(left_collection)s::VARCHAR COLLATE "C") JOIN document AS right_document ON right_document.doc_key = (SELECT min(first.doc_key) AS min_2
FROM document AS first
WHERE first.content_key = pair.right_key AND first.collection = %(right_collection)s::VARCHAR COLLATE "C")
WHERE pair.similarity >= %(min_sim)s ORDER BY pair.left_key, pair.right_key
