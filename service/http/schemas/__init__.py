"""The JSON of requests and answers, beside the resources of `certiset.core.resources`."""
