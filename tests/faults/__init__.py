"""What the product must survive (`make test-faults`). ROUNDS: how many times a server is killed, 20 unless set."""
