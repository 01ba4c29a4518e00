SELECT staged_text.content_key, staged_text.text
FROM staged_key JOIN staged_text ON staged_text.content_key = staged_key.staged_key ORDER BY staged_key.staged_key
