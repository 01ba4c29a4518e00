SELECT counted.bucket_hash, counted.content_key
FROM (SELECT band_bucket.bucket_hash AS bucket_hash, band_bucket.content_key AS content_key, count(*) OVER (PARTITION BY band_bucket.bucket_hash) AS size
FROM band_bucket
WHERE band_bucket.generation IN (__[POSTCOMPILE_generations]) AND band_bucket.band = ?) AS counted
WHERE counted.size > ? ORDER BY counted.bucket_hash, counted.content_key
