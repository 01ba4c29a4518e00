SELECT source.uri, source.size, source.mtime_ns, source.digest, source.state, source.num_items, source.num_documents, source.options, source.reading_run, source.source_key
FROM source
WHERE source.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = ?) AND source.uri IN (SELECT given.value
FROM json_each(?) AS given)
