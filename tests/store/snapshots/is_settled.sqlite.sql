SELECT ? AS anon_1
WHERE NOT (EXISTS (SELECT unlinked.content_key
FROM unlinked)) AND NOT (EXISTS (SELECT given."key"
FROM json_each(?) AS given JOIN oversized_bucket ON oversized_bucket.band = given."key" + ? AND oversized_bucket.bucket_hash = given.value))
