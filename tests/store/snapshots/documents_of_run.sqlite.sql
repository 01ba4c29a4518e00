SELECT document.doc_key
FROM document
WHERE document.first_seen_run = ? OR document.content_key IN (SELECT pair.right_key
FROM pair
WHERE pair.run_key = ?)
