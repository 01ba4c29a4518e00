SELECT given.key, used.filter, (SELECT bucket_filter.entries
FROM bucket_filter
WHERE bucket_filter.part_key BETWEEN used.filter * 281474976710656 + given.value AND (used.filter * 281474976710656 + given.value) | 16777215 ORDER BY bucket_filter.part_key
 LIMIT %(param_1)s::INTEGER) AS anon_1, NULL AS anon_2
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN (SELECT DISTINCT bucket_generation.filter AS filter
FROM bucket_generation
WHERE bucket_generation.filter IS NOT NULL) AS used ON true
WHERE given.key = %(key_1)s::BIGINT OR NOT (EXISTS (SELECT those.filter
FROM (SELECT DISTINCT bucket_generation.filter AS filter
FROM bucket_generation
WHERE bucket_generation.filter IS NOT NULL) AS those
WHERE position(CASE WHEN (those.filter %% %(filter_1)s::SMALLINT = %(param_3)s::SMALLINT) THEN %(plain)s WHEN (those.filter < %(filter_2)s::SMALLINT) THEN %(few)s ELSE %(many)s END IN (SELECT bucket_filter.entries
FROM bucket_filter
WHERE bucket_filter.part_key BETWEEN those.filter * 281474976710656 + %(first)s::BIGINT AND (those.filter * 281474976710656 + %(first)s::BIGINT) | 16777215 ORDER BY bucket_filter.part_key
 LIMIT %(param_2)s::INTEGER)) > %(param_4)s::INTEGER)) UNION ALL SELECT NULL AS anon_2, bucket_generation.filter, NULL AS anon__1, bucket_generation.generation
FROM bucket_generation
