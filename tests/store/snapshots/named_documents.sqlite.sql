SELECT document.doc_id, document.doc_key
FROM document
WHERE document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = ?) AND document.doc_id IN (SELECT given.value
FROM json_each(?) AS given)
