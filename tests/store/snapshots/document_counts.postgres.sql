SELECT count(*) AS num_documents, count(document.content_key) AS num_full
FROM document
WHERE %(within)s::VARCHAR COLLATE "C" IS NULL OR document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(within)s::VARCHAR COLLATE "C")
