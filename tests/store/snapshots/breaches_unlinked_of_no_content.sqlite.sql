SELECT unlinked.content_key
FROM unlinked
WHERE NOT (EXISTS (SELECT content.content_key
FROM content
WHERE content.content_key = unlinked.content_key)) ORDER BY unlinked.content_key
