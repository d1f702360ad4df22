"""hindsightctl, the operator's command line."""
