"""Choose bands, measure the recall of an index, draw the S-curve, and change the bands of an index."""
