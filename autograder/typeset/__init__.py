"""Text that others see: Markdown made harmless, formulas set by KaTeX.

sanitise     what anybody wrote, as HTML in which nothing acts and no letter is lost: nh3
katex        KaTeX in one Node process, fetched once through npm
typesetter   both together, for pages without a script
"""
