SELECT document.doc_key, document.dated_at
FROM json_each(?) AS given JOIN document ON document.doc_key = given.value
WHERE document.dated_at IS NOT NULL
