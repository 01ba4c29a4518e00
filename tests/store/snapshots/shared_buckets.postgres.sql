SELECT band_bucket.bucket_hash, band_bucket.content_key
FROM (SELECT band_bucket.bucket_hash AS bucket_hash
FROM band_bucket
WHERE band_bucket.generation IN (__[POSTCOMPILE_generations]) AND band_bucket.band = %(band)s::SMALLINT GROUP BY band_bucket.bucket_hash
HAVING count(*) > %(count_1)s::INTEGER) AS shared JOIN band_bucket ON band_bucket.bucket_hash = shared.bucket_hash
WHERE band_bucket.generation IN (__[POSTCOMPILE_generations]) AND band_bucket.band = %(band)s::SMALLINT ORDER BY band_bucket.bucket_hash, band_bucket.content_key
