SELECT rejected.source, rejected.locator
FROM rejected
WHERE rejected.run_key >= ? AND rejected.source IN (__[POSTCOMPILE_uris])
