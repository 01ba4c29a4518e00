SELECT given.band, given.bucket_hash, given.content_key
FROM (SELECT key, json_extract(value, '$[0]') AS band, json_extract(value, '$[1]') AS bucket_hash, json_extract(value, '$[2]') AS content_key FROM json_each(?)) AS given LEFT OUTER JOIN band_bucket ON band_bucket.band = given.band AND band_bucket.bucket_hash = given.bucket_hash AND band_bucket.content_key = given.content_key
WHERE band_bucket.content_key IS NULL ORDER BY given."key"
