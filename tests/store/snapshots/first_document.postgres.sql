(SELECT min(first.doc_key) AS min_1
FROM document AS first, pair
WHERE first.content_key = pair.left_key)
