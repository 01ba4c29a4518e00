SELECT content_text.content_key
FROM content_text
WHERE NOT (EXISTS (SELECT content.content_key
FROM content
WHERE content.content_key = content_text.content_key)) ORDER BY content_text.content_key
