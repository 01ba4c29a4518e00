SELECT document.content_key
FROM document
WHERE document.content_key IS NOT NULL GROUP BY document.content_key
HAVING count(*) > ? ORDER BY document.content_key
