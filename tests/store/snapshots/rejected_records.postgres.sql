SELECT rejected.source, rejected.locator
FROM rejected
WHERE rejected.run_key >= %(since)s::BIGINT AND rejected.source IN (__[POSTCOMPILE_uris])
