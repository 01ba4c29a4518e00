SELECT content.content_key, content.digest, content.num_shingles, content.signature
FROM staged_key JOIN content ON content.content_key = staged_key.staged_key ORDER BY staged_key.staged_key
