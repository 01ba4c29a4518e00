SELECT staged_probe.content_key, band_bucket.content_key AS mate_key
FROM staged_probe JOIN band_bucket ON band_bucket.band = staged_probe.band AND band_bucket.bucket_hash = staged_probe.bucket_hash AND band_bucket.content_key < staged_probe.limit_key LEFT OUTER JOIN unlinked ON unlinked.content_key = band_bucket.content_key
WHERE band_bucket.content_key != staged_probe.content_key AND (unlinked.content_key IS NULL OR band_bucket.content_key < staged_probe.content_key)
