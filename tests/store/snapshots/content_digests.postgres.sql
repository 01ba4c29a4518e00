SELECT content.content_key, content.digest
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN content ON content.content_key = given.value ORDER BY given.value
