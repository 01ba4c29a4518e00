SELECT document.content_key
FROM document
WHERE document.content_key IS NOT NULL AND document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(within)s::VARCHAR COLLATE "C") GROUP BY document.content_key
HAVING count(*) > %(count_1)s::INTEGER ORDER BY document.content_key
