SELECT given.key, (SELECT bucket_filter.entries
FROM bucket_filter
WHERE bucket_filter.part_key BETWEEN given.value AND given.value | 16777215 ORDER BY bucket_filter.part_key
 LIMIT %(param_1)s::INTEGER) AS anon_1
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given
