SELECT document.content_key
FROM document
WHERE document.content_key IS NOT NULL GROUP BY document.content_key
HAVING count(*) > %(count_1)s::INTEGER ORDER BY document.content_key
