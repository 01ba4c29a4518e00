SELECT source.uri, source.size, source.mtime_ns, source.digest, source.state, source.num_items, source.num_documents, source.options, source.reading_run, source.source_key
FROM source
WHERE source.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(collection)s::VARCHAR COLLATE "C") AND source.uri IN (SELECT given.value
FROM (SELECT number - 1 AS key, value FROM unnest(ARRAY(SELECT json_array_elements_text(%(given)s::JSON))) WITH ORDINALITY AS unfolded(value, number)) AS given)
