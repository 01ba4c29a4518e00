SELECT document.source_key, document.doc_key
FROM json_each(?) AS given JOIN document ON document.source_key = given.value JOIN source ON source.source_key = document.source_key
WHERE document.locator = ? AND document.last_seen_run >= source.reading_run ORDER BY given."key"
