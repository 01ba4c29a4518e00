SELECT source.source_key, source.collection, source.uri, source.size, source.mtime_ns, source.state, source.position, source.num_documents, source.options, source.reading_run, source.last_seen_run
FROM source
WHERE length(source.digest) != %(length_1)s::INTEGER ORDER BY source.source_key
