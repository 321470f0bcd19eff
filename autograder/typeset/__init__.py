"""Text that others see: Markdown made harmless, formulas set by KaTeX."""
