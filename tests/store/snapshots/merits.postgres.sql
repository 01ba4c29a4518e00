SELECT document.content_key, document.doc_key, document.doc_id, coalesce(document.dated_at, source.mtime_ns / %(mtime_ns_1)s::BIGINT) AS merit
FROM staged_key JOIN document ON document.content_key = staged_key.staged_key LEFT OUTER JOIN source ON source.source_key = document.source_key
WHERE %(within)s::VARCHAR COLLATE "C" IS NULL OR document.collection = %(within)s::VARCHAR COLLATE "C" ORDER BY staged_key.staged_key, document.doc_key
