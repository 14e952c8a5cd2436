"""A judge's exact prompt, and the parser of its reply.

Makes no calls. Any change of wording needs a new prompt version.
"""
