SELECT source.source_key, source.num_documents, count(document.doc_key) AS num_stored
FROM source LEFT OUTER JOIN document ON document.source_key = source.source_key AND document.last_seen_run >= source.reading_run
WHERE source.state = ? GROUP BY source.source_key, source.num_documents ORDER BY source.source_key
