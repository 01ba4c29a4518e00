SELECT content.content_key, content.num_shingles
FROM content
WHERE NOT (EXISTS (SELECT document.content_key
FROM document
WHERE document.content_key = content.content_key)) ORDER BY content.content_key
