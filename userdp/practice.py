"""The former name of `userdp.release`, which goes with the next version."""

import warnings

from userdp.release import *  # noqa: F403
from userdp.release import __all__ as __all__

warnings.warn(
    "`userdp.practice` is `userdp.release` now; the old name goes with the next version.",
    DeprecationWarning,
    stacklevel=2,
)
