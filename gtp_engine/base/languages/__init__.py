"""What people read on the pages for the browser, in their language: a file of texts for each language."""
