INSERT INTO pair (left_key, right_key, similarity, exact, run_key) SELECT staged_pair.left_key, staged_pair.right_key, staged_pair.similarity, staged_pair.exact, %(param_1)s::INTEGER AS run_key
FROM staged_pair JOIN content AS left_content ON left_content.content_key = staged_pair.left_key JOIN content AS right_content ON right_content.content_key = staged_pair.right_key
