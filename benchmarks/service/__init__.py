"""How fast the HTTP service is, beside a bare durable log and beside Optuna."""
