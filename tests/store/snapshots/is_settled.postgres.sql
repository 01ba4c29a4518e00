SELECT %(param_1)s::INTEGER AS anon_1
WHERE NOT (EXISTS (SELECT unlinked.content_key
FROM unlinked)) AND NOT (EXISTS (SELECT given.key
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN oversized_bucket ON oversized_bucket.band = given.key + %(first_band)s::BIGINT AND oversized_bucket.bucket_hash = given.value))
