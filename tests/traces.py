"""What a call calls in turn: the one thing about time that a test can see without a clock."""

import gc
import sys


def calls_of(work):
    """Return the names of all functions that are called, those in C too, in order."""
    called = []

    def look(frame, event, function):
        if event == "call":
            called.append(frame.f_code.co_qualname)
        elif event == "c_call":
            called.append(function.__qualname__)

    for _ in range(2):  # the first time imports, and fills caches
        work()
    gc.disable()  # else it may run at any time
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return called
