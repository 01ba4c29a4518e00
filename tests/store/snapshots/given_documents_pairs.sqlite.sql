SELECT left_document.doc_id AS "left", right_document.doc_id AS "right", given."key", (SELECT collection.name
FROM collection
WHERE collection.collection_key = left_document.collection_key) AS left_collection, (SELECT collection.name
FROM collection
WHERE collection.collection_key = right_document.collection_key) AS right_collection
FROM (SELECT key, json_extract(value, '$[0]') AS left_key, json_extract(value, '$[1]') AS right_key FROM json_each(?)) AS given JOIN document AS left_document ON left_document.doc_key = (SELECT min(first.doc_key) AS min_1
FROM document AS first
WHERE first.content_key = given.left_key) JOIN document AS right_document ON right_document.doc_key = (SELECT min(first.doc_key) AS min_2
FROM document AS first
WHERE first.content_key = given.right_key) ORDER BY given."key", left_document.doc_key, right_document.doc_key
