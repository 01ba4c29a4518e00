SELECT content.content_key, content.digest, content.num_shingles, content.signature
FROM content
WHERE content.content_key > ? ORDER BY content.content_key
 LIMIT ? OFFSET ?
