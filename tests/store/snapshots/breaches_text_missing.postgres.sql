SELECT content.content_key, content.num_shingles
FROM content
WHERE NOT (EXISTS (SELECT content_text.content_key
FROM content_text
WHERE content_text.content_key = content.content_key)) ORDER BY content.content_key
