SELECT content_text.content_key, content_text.text
FROM staged_key JOIN content_text ON content_text.content_key = staged_key.staged_key ORDER BY staged_key.staged_key
