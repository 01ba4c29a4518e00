SELECT rejected.source, rejected.locator
FROM rejected JOIN run ON run.run_key = rejected.run_key JOIN source ON source.collection_key = run.collection_key AND source.uri = rejected.source
WHERE rejected.run_key >= ? AND rejected.run_key >= source.reading_run AND source.source_key IN (__[POSTCOMPILE_source_keys])
