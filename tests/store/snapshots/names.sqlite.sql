SELECT document.doc_key, document.collection, document.doc_id
FROM staged_key JOIN document ON document.doc_key = staged_key.staged_key ORDER BY staged_key.staged_key
