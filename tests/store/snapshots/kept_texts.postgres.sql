SELECT content_text.content_key, content_text.text
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN content_text ON content_text.content_key = given.value ORDER BY given.value
