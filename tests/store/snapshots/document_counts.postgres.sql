SELECT count(*) AS num_documents, count(document.content_key) AS num_full
FROM document
WHERE %(within)s::VARCHAR COLLATE "C" IS NULL OR document.collection = %(within)s::VARCHAR COLLATE "C"
