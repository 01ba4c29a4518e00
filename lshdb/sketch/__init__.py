"""From text to signature: normal form, shingles, minima, band keys. Pure functions; knows no store and no file."""
