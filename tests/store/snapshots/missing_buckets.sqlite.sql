SELECT given.band, given.bucket_hash, given.content_key
FROM (SELECT key, json_extract(value, '$[0]') AS band, json_extract(value, '$[1]') AS bucket_hash, json_extract(value, '$[2]') AS content_key FROM json_each(?)) AS given
WHERE NOT (EXISTS (SELECT band_bucket.content_key
FROM band_bucket
WHERE (band_bucket.generation IN (SELECT generation FROM bucket_generation)) AND band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash AND band_bucket.content_key = given.content_key)) ORDER BY given."key"
