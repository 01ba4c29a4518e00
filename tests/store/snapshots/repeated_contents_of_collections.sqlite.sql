SELECT document.content_key
FROM document
WHERE document.content_key IS NOT NULL AND document.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = ?) GROUP BY document.content_key
HAVING count(*) > ? ORDER BY document.content_key
