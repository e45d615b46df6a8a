"""What pages have in common; the annotation page and its small server, an optional extra."""
