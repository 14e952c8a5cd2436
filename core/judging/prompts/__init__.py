"""A judge's exact prompt, and the parser of its reply.

Pure: makes no calls. A changed word is a new prompt version.
"""
