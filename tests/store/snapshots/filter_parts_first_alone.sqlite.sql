SELECT given."key", used.filter, (SELECT bucket_filter.entries
FROM bucket_filter
WHERE bucket_filter.part_key BETWEEN used.filter * 281474976710656 + given.value AND (used.filter * 281474976710656 + given.value) | 16777215 ORDER BY bucket_filter.part_key
 LIMIT ? OFFSET ?) AS anon_1, NULL AS anon_2
FROM json_each(?) AS given JOIN (SELECT DISTINCT bucket_generation.filter AS filter
FROM bucket_generation
WHERE bucket_generation.filter IS NOT NULL) AS used ON 1 = 1
WHERE given."key" = ? OR NOT (EXISTS (SELECT those.filter
FROM (SELECT DISTINCT bucket_generation.filter AS filter
FROM bucket_generation
WHERE bucket_generation.filter IS NOT NULL) AS those
WHERE instr((SELECT bucket_filter.entries
FROM bucket_filter
WHERE bucket_filter.part_key BETWEEN those.filter * 281474976710656 + ? AND (those.filter * 281474976710656 + ?) | 16777215 ORDER BY bucket_filter.part_key
 LIMIT ? OFFSET ?), CASE WHEN (those.filter % ? = ?) THEN ? WHEN (those.filter < ?) THEN ? ELSE ? END) > ?)) UNION ALL SELECT NULL AS anon_2, bucket_generation.filter, NULL AS anon__1, bucket_generation.generation
FROM bucket_generation
