"""One game of people: what is on the table, its clock, its files, and who plays."""
