"""From text to signature: normal form, shingles, minima, band keys. Pure functions: no store, no files."""
