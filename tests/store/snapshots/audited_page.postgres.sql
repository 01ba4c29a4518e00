SELECT content.content_key, content.digest, content.num_shingles, content.signature
FROM content
WHERE content.content_key > %(position)s::BIGINT ORDER BY content.content_key
 LIMIT %(count)s
