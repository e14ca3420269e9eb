"""Request and response types of the API. The TypeScript types are generated from these."""
