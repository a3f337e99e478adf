"""The clock of the tiers, in one place, so that a test can replace it: tests/gpu/recipe.py simulates one."""

import time

now = time.monotonic  # seconds
sleep = time.sleep
