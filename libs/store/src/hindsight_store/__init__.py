"""What hindsight's database holds and how it is read and written."""
