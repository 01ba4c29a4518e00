SELECT left_document.doc_id AS "left", right_document.doc_id AS "right", pair.similarity, pair.exact, (SELECT collection.name
FROM collection
WHERE collection.collection_key = left_document.collection_key) AS left_collection, (SELECT collection.name
FROM collection
WHERE collection.collection_key = right_document.collection_key) AS right_collection
FROM pair JOIN document AS left_document ON left_document.content_key = pair.left_key JOIN document AS right_document ON right_document.content_key = pair.right_key
WHERE pair.similarity >= %(min_sim)s ORDER BY pair.left_key, pair.right_key, left_document.doc_key, right_document.doc_key
