SELECT staged_text.content_key, staged_text.text
FROM json_each(?) AS given JOIN staged_text ON staged_text.content_key = given.value ORDER BY given.value
