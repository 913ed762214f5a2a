"""Pure. MCP over Streamable HTTP without sessions, for a server that offers tools and nothing else."""
