SELECT oversized_bucket.band, oversized_bucket.bucket_hash, oversized_bucket.num_contents, oversized_bucket.num_pairs
FROM oversized_bucket ORDER BY oversized_bucket.band, oversized_bucket.bucket_hash
