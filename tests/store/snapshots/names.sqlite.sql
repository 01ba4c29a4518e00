SELECT document.doc_key, document.collection, document.doc_id
FROM json_each(?) AS given JOIN document ON document.doc_key = given.value ORDER BY given.value
