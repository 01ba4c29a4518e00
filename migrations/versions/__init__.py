"""One module per revision. Revisions spell out their tables, so that their meaning never changes."""
