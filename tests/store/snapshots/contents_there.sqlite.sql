SELECT content.content_key
FROM json_each(?) AS given JOIN content ON content.content_key = given.value
