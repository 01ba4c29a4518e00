SELECT count(*) AS num_documents, count(document.content_key) AS num_full
FROM document
WHERE ? IS NULL OR document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = ?)
