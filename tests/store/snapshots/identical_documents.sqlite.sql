SELECT left_document.doc_id AS "left", right_document.doc_id AS "right", ? AS similarity, 1 AS exact, (SELECT collection.name
FROM collection
WHERE collection.collection_key = left_document.collection_key) AS left_collection, (SELECT collection.name
FROM collection
WHERE collection.collection_key = right_document.collection_key) AS right_collection
FROM document AS left_document JOIN document AS right_document ON left_document.content_key = right_document.content_key AND left_document.doc_key < right_document.doc_key
WHERE left_document.content_key IN (SELECT document.content_key
FROM document
WHERE document.content_key IS NOT NULL GROUP BY document.content_key
HAVING count(*) > ?) ORDER BY left_document.content_key, left_document.doc_key, right_document.doc_key
