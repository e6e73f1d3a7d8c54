"""Short texts for the values of parametrised tests, the same in every process."""

import re
import sys
from reprlib import Repr

LONGEST = 60

# Sets are sorted; long numbers and lists are shortened in the middle.
SHORT = Repr()
SHORT.maxother = SHORT.maxstring = sys.maxsize
SHORT.maxlong = 24
SHORT.maxlist = SHORT.maxtuple = SHORT.maxdict = 4


def are_words(text):
    """Whether a text can be a test's id as it is: it is short, and does not spell a number."""
    try:
        float(text or 0)
    except ValueError:
        return len(text) <= LONGEST
    return False


def brief(value):
    """The value's repr on one line, shortened, and without its memory address."""
    words = re.sub(" at 0x[0-9a-fA-F]+", "", SHORT.repr(value))
    words = " ".join(words.split())
    return words if len(words) <= LONGEST else f"{words[:40]}...{words[-17:]}"
