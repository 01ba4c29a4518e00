SELECT content.content_key, content.digest
FROM json_each(?) AS given JOIN content ON content.content_key = given.value ORDER BY given.value
