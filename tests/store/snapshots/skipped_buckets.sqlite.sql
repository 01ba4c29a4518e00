SELECT given."key"
FROM (SELECT key, json_extract(value, '$[0]') AS band, json_extract(value, '$[1]') AS bucket_hash FROM json_each(?)) AS given JOIN skipped_bucket ON skipped_bucket.band = given.band AND skipped_bucket.bucket_hash = given.bucket_hash
