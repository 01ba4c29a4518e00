SELECT document.content_key, document.doc_id, (SELECT collection.name
FROM collection
WHERE collection.collection_key = document.collection_key) AS collection
FROM json_each(?) AS given JOIN document ON document.content_key = given.value ORDER BY given.value, document.doc_key
