SELECT given."key"
FROM (SELECT key, json_extract(value, '$[0]') AS band, json_extract(value, '$[1]') AS bucket_hash FROM json_each(?)) AS given JOIN oversized_bucket ON oversized_bucket.band = given.band AND oversized_bucket.bucket_hash = given.bucket_hash
