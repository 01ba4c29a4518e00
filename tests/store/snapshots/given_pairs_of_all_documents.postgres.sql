SELECT left_document.doc_id AS "left", right_document.doc_id AS "right", given.key, (SELECT collection.name
FROM collection
WHERE collection.collection_key = left_document.collection_key) AS left_collection, (SELECT collection.name
FROM collection
WHERE collection.collection_key = right_document.collection_key) AS right_collection
FROM (SELECT number - 1 AS key, left_key, right_key FROM unnest((%(given)s::BIGINT[])[:][1:1], (%(given)s::BIGINT[])[:][2:2]) WITH ORDINALITY AS unfolded(left_key, right_key, number)) AS given JOIN document AS left_document ON left_document.content_key = given.left_key JOIN document AS right_document ON right_document.content_key = given.right_key ORDER BY given.key, left_document.doc_key, right_document.doc_key
