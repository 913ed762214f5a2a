"""Pure. Signed receipts of answered calls (PRODUCT.md section 10, PROTOCOLS.md section 5)."""
