SELECT source.uri, source.size, source.mtime_ns, source.digest, source.state, source.num_items, source.num_documents, source.options, source.reading_run, source.source_key, source.collection_key
FROM (SELECT number - 1 AS key, value FROM unnest(%(given)s::BIGINT[]) WITH ORDINALITY AS unfolded(value, number)) AS given JOIN source ON source.source_key = given.value ORDER BY given.key
