"""The demo: two small problems, from training to certified sets, all of it over HTTP and without a network."""
