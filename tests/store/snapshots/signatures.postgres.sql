SELECT content.content_key, content.num_shingles, content.signature
FROM (SELECT anon_1.number - 1 AS key, anon_1.value AS value
FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS anon_1(value, number)) AS given JOIN content ON content.content_key = given.value ORDER BY given.value
