"""Side-by-side measurements of holdfast, its raw floor and its peers. Not shipped."""
