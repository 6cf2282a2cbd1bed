"""The demo: three small problems, from training to certified sets, all of it over HTTP and without a network."""
