"""What statements say of each other, in English and Chinese."""
