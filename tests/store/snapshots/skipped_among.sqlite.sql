SELECT staged_bucket.band, staged_bucket.bucket_hash, count(*) AS num_staged
FROM staged_bucket JOIN skipped_bucket ON skipped_bucket.band = staged_bucket.band AND skipped_bucket.bucket_hash = staged_bucket.bucket_hash GROUP BY staged_bucket.band, staged_bucket.bucket_hash
