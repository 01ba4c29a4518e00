SELECT staged_bucket.band, staged_bucket.bucket_hash, count(*) AS num_staged
FROM staged_bucket JOIN oversized_bucket ON oversized_bucket.band = staged_bucket.band AND oversized_bucket.bucket_hash = staged_bucket.bucket_hash GROUP BY staged_bucket.band, staged_bucket.bucket_hash
