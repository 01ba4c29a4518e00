SELECT document.content_key
FROM document
WHERE document.content_key IS NOT NULL AND document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(within)s::VARCHAR COLLATE "C") GROUP BY document.content_key ORDER BY document.content_key
