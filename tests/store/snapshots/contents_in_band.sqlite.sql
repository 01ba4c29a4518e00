SELECT given."key", band_bucket.content_key
FROM json_each(?) AS given JOIN band_bucket ON band_bucket.generation = given."key" * ? + ? AND band_bucket.band = given."key" * ? + ? AND band_bucket.bucket_hash = given.value
