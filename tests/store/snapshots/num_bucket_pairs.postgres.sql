SELECT coalesce(sum((sizes.num_contents * (sizes.num_contents - %(num_contents_1)s::INTEGER)) / %(param_1)s::INTEGER), %(coalesce_2)s::INTEGER) AS coalesce_1
FROM (SELECT band_bucket.bucket_hash AS bucket_hash, count(*) AS num_contents
FROM band_bucket
WHERE band_bucket.band = %(band)s::SMALLINT GROUP BY band_bucket.bucket_hash
HAVING count(*) > %(count_1)s::INTEGER) AS sizes
