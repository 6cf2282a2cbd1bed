"""What the pages in docs/ show, done."""
