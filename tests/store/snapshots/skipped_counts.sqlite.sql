SELECT skipped_bucket.band, skipped_bucket.bucket_hash, skipped_bucket.num_contents, skipped_bucket.num_pairs
FROM skipped_bucket ORDER BY skipped_bucket.band, skipped_bucket.bucket_hash
