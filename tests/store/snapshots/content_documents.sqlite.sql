SELECT document.content_key, document.doc_id, document.collection
FROM json_each(?) AS given JOIN document ON document.content_key = given.value ORDER BY given.value, document.doc_key
