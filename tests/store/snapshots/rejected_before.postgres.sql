SELECT source.uri, source.state, source.num_items, source.num_documents, rejected.run_key, rejected.locator, rejected.reason
FROM rejected JOIN run ON run.run_key = rejected.run_key JOIN source ON source.collection_key = run.collection_key AND source.uri = rejected.source
WHERE rejected.run_key >= %(since)s::BIGINT AND rejected.run_key < %(run)s::BIGINT AND rejected.run_key >= source.reading_run AND run.collection_key = (SELECT collection.collection_key
FROM collection
WHERE collection.name = %(collection)s::VARCHAR COLLATE "C") AND source.last_seen_run >= %(run)s::BIGINT AND source.num_items > source.num_documents ORDER BY rejected.rejected_key
