"""Pure. What a model is asked and what is made of its reply (PRODUCT.md section 7, JUDGE.md "LLM mode")."""
