SELECT given."key", (SELECT bucket_filter.entries
FROM bucket_filter
WHERE bucket_filter.part_key >= given.value ORDER BY bucket_filter.part_key
 LIMIT ? OFFSET ?) AS anon_1
FROM json_each(?) AS given
