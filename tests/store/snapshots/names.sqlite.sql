SELECT document.doc_key, (SELECT collection.name
FROM collection
WHERE collection.collection_key = document.collection_key) AS collection, document.doc_id
FROM json_each(?) AS given JOIN document ON document.doc_key = given.value ORDER BY given.value
