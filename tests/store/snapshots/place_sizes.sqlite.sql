SELECT places."key", (SELECT count(*) AS count_1
FROM band_bucket
WHERE band_bucket.generation = places.generation AND band_bucket.band = places.band AND band_bucket.bucket_hash = places.bucket_hash) AS anon_1
FROM (SELECT key, json_extract(value, '$[0]') AS generation, json_extract(value, '$[1]') AS band, json_extract(value, '$[2]') AS bucket_hash FROM json_each(?)) AS places
