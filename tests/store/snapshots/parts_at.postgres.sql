SELECT given.key, (SELECT bucket_filter.entries
FROM bucket_filter
WHERE bucket_filter.part_key >= given.value ORDER BY bucket_filter.part_key
 LIMIT %(param_1)s::INTEGER) AS anon_1
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given
