"""Models as they are served: from text, from pieces, from records.

Reading order: `served` (what an export is made of), then a module a kind.
"""
