SELECT hot.band, hot.bucket_hash, count(*) AS num_contents
FROM (SELECT DISTINCT staged_probe.band AS band, staged_probe.bucket_hash AS bucket_hash
FROM staged_probe
WHERE staged_probe.limit_key != %(limit_key_1)s::BIGINT) AS hot JOIN band_bucket ON band_bucket.band = hot.band AND band_bucket.bucket_hash = hot.bucket_hash GROUP BY hot.band, hot.bucket_hash
