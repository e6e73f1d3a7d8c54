"""Record the functions that a call invokes: the only aspect of timing testable without a clock."""

import gc
import sys


def calls_of(work):
    """Return the names of all functions called during `work()`, also those in C, in order."""
    called = []

    def record(frame, event, function):
        if event == "call":
            called.append(frame.f_code.co_qualname)
        elif event == "c_call":
            called.append(function.__qualname__)

    for _ in range(2):  # the first run imports modules and fills caches
        work()
    gc.disable()  # a collection could start at any time and add calls
    sys.setprofile(record)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return called
