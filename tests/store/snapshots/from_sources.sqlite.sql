SELECT document.doc_key
FROM document
WHERE document.source_key IN (SELECT source.source_key
FROM source
WHERE (source.uri LIKE '%' || ? || '%' ESCAPE '/'))
