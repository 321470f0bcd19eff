"""For this project's own developers: pins and the ledger of claims."""
