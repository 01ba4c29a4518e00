SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact, pair.run_key
FROM pair
WHERE NOT (EXISTS (SELECT content.content_key
FROM content
WHERE content.content_key = pair.left_key)) OR NOT (EXISTS (SELECT content.content_key
FROM content
WHERE content.content_key = pair.right_key)) ORDER BY pair.left_key, pair.right_key
