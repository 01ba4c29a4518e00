SELECT given."key", (SELECT bucket_filter.entries
FROM bucket_filter
WHERE bucket_filter.part_key BETWEEN given.value AND given.value | 16777215 ORDER BY bucket_filter.part_key
 LIMIT ? OFFSET ?) AS anon_1
FROM json_each(?) AS given
