SELECT staged_text.content_key, staged_text.text
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN staged_text ON staged_text.content_key = given.value ORDER BY given.value
