"""Pure code: the engines and the formats. No clock, environment, I/O or async; imports nothing of ours outside this
package."""
