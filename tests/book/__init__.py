"""Tests of single chapters; a package, because modules of `userdp` have tests of the same names."""
