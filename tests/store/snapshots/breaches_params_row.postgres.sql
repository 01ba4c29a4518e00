SELECT index_params.params_key, index_params.shingle, index_params.multiset, index_params.scheme, index_params.bands, index_params.band_rows, index_params.seed, index_params.floor, index_params.min_sim, index_params.recall, index_params.keep_text, index_params.html, index_params.table_version, index_params.lshdb_version, index_params.num_perm, index_params.first_band, index_params.passages
FROM index_params
WHERE index_params.params_key != %(params_key_1)s::INTEGER ORDER BY index_params.params_key
