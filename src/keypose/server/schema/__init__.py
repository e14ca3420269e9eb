"""What the API speaks: every request and every answer as a type. TypeScript's types are made from these."""
