"""Stands in for the script by which the Python extension runs pytest."""

import sys

import pytest

sys.exit(pytest.main(sys.argv[1:]))
