"""Where this checkout is: the one place that works it out."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
