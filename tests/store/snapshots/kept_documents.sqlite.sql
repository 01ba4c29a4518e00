SELECT document.doc_key, document.doc_id, source.uri, source.size, source.mtime_ns, source.digest, document.last_seen_run >= source.reading_run AS is_there, document.locator
FROM json_each(?) AS given JOIN document ON document.doc_key = given.value LEFT OUTER JOIN source ON source.source_key = document.source_key ORDER BY given."key"
