"""Who may do what: API keys, scopes, tenants, a rate limit. Without a key only health and the page are open."""
