"""Pure. Paying by x402 version 2, exact scheme, EIP-3009 (PROTOCOLS.md section 1): what is offered, what is sent
back, and what a facilitator's replies mean.

The x402 package is not used: its server core serves on a settlement that does not check, leaks the facilitator's bodies
and runs the work of one payment many times, and what is left of it is the encoding below.
"""
