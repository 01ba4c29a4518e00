SELECT sizes.num_contents, %(param_1)s::INTEGER AS num_skipped, %(band)s AS band, sizes.bucket_hash
FROM (SELECT band_bucket.bucket_hash AS bucket_hash, count(*) AS num_contents
FROM band_bucket
WHERE (band_bucket.generation = ANY (ARRAY(SELECT generation FROM bucket_generation))) AND band_bucket.band = %(band)s::SMALLINT GROUP BY band_bucket.bucket_hash
HAVING count(*) > %(count_1)s::INTEGER) AS sizes ORDER BY sizes.num_contents DESC, sizes.bucket_hash
 LIMIT %(count)s
