SELECT band_bucket.bucket_hash, band_bucket.content_key
FROM (SELECT band_bucket.bucket_hash AS bucket_hash
FROM band_bucket
WHERE band_bucket.generation IN (__[POSTCOMPILE_generations]) AND band_bucket.band = ? GROUP BY band_bucket.bucket_hash
HAVING count(*) > ?) AS shared JOIN band_bucket ON band_bucket.bucket_hash = shared.bucket_hash
WHERE band_bucket.generation IN (__[POSTCOMPILE_generations]) AND band_bucket.band = ? ORDER BY band_bucket.bucket_hash, band_bucket.content_key
