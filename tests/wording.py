"""Words for the values that tests are run with: short, and the same in every process."""

import re
import sys
from reprlib import Repr

LONGEST = 60

# Sets are sorted, and long numbers and lists lose their middle.
SHORT = Repr()
SHORT.maxother = SHORT.maxstring = sys.maxsize
SHORT.maxlong = 24
SHORT.maxlist = SHORT.maxtuple = SHORT.maxdict = 4


def are_words(text):
    """Whether a text says by itself what it is: it is short, and no number in quotes."""
    try:
        float(text or 0)
    except ValueError:
        return len(text) <= LONGEST
    return False


def brief(value):
    """A value on one line, without the address at which it happens to lie."""
    words = re.sub(" at 0x[0-9a-fA-F]+", "", SHORT.repr(value))
    words = " ".join(words.split())
    return words if len(words) <= LONGEST else f"{words[:40]}...{words[-17:]}"
