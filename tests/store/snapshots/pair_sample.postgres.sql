SELECT pair.left_key, pair.right_key, pair.similarity, pair.exact
FROM pair
WHERE coalesce(pair.run_key, %(coalesce_1)s::BIGINT) >= %(since)s::BIGINT ORDER BY ((((pair.left_key %% %(left_key_1)s::BIGINT) * %(a)s::BIGINT + (pair.right_key %% %(right_key_1)s::BIGINT) * %(b)s::BIGINT + %(c)s::BIGINT) %% %(param_1)s::BIGINT) * (((pair.left_key %% %(left_key_1)s::BIGINT) * %(a)s::BIGINT + (pair.right_key %% %(right_key_1)s::BIGINT) * %(b)s::BIGINT + %(c)s::BIGINT) %% %(param_1)s::BIGINT)) %% %(param_2)s::BIGINT, pair.left_key, pair.right_key
 LIMIT %(count)s
