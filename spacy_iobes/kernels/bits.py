"""What a gap table says, and how a tag is packed: the contract between `codes` and the kernels.

A packed tag is `label << 3 | symbol`. Symbol 0 is `O`, 1 the edge of a sentence, 2 to 6 are the
prefixes of a scheme in its own order, 7 is a tag that the scheme cannot read. Labels count from 0;
`O`, the edge and unreadable tags have label -1.

A gap table is `uint8[same label, previous symbol, current symbol]`, the sum of these bits.
"""

OUTSIDE, EDGE, FIRST, UNREADABLE, SYMBOLS = 0, 1, 2, 7, 8

END = 1  # a span that is open ends here
START = 2  # a span starts behind this gap
ILLEGAL = 4  # the scheme does not allow this gap
LOSE_LEFT = 8  # the span that ends here is lost
LOSE_RIGHT = 16  # the span that starts here is lost
CUT = 32  # of the span that ends here only the first token is kept


def pack(label: int, symbol: int) -> int:
    """Pack a label and a symbol into one integer."""
    return label << 3 | symbol
