"""Pure: what lies behind a consensus: who agrees with whom and on what, who copied, where members differ.

`consensus_signals` gives the `signals` object that a consensus result carries when `explain` is true.
"""

from api.core.signals.assemble import consensus_signals

__all__ = ["consensus_signals"]
