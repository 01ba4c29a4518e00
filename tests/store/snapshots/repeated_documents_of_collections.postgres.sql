SELECT left_document.doc_id AS "left", right_document.doc_id AS "right", %(param_1)s AS similarity, true AS exact, (SELECT collection.name
FROM collection
WHERE collection.collection_key = left_document.collection_key) AS left_collection, (SELECT collection.name
FROM collection
WHERE collection.collection_key = right_document.collection_key) AS right_collection
FROM document AS right_document JOIN document AS left_document ON left_document.doc_key = (SELECT min(first.doc_key) AS min_1
FROM document AS first
WHERE first.content_key = right_document.content_key AND first.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(left_collection)s::VARCHAR COLLATE "C"))
WHERE right_document.content_key IN (SELECT document.content_key
FROM document
WHERE document.content_key IS NOT NULL AND document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(right_collection)s::VARCHAR COLLATE "C") GROUP BY document.content_key
HAVING count(*) > %(count_1)s::INTEGER) AND right_document.doc_key != left_document.doc_key AND right_document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(right_collection)s::VARCHAR COLLATE "C") ORDER BY right_document.content_key, right_document.doc_key
