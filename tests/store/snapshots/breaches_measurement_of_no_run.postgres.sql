SELECT measurement.run_key, measurement.bands, measurement.rows, measurement.seed, measurement.num_contents, measurement.num_probes, measurement.min_sim, measurement.num_pairs, measurement.num_found, measurement.recall, measurement.low, measurement.high, measurement.neighbours, measurement.points
FROM measurement
WHERE NOT (EXISTS (SELECT run.run_key
FROM run
WHERE run.run_key = measurement.run_key)) ORDER BY measurement.run_key
