SELECT content_text.content_key, content_text.text
FROM json_each(?) AS given JOIN content_text ON content_text.content_key = given.value ORDER BY given.value
