SELECT staged_text.content_key, staged_text.text
FROM (SELECT anon_1.number - 1 AS key, anon_1.value AS value
FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS anon_1(value, number)) AS given JOIN staged_text ON staged_text.content_key = given.value ORDER BY given.value
