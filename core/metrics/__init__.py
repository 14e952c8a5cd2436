"""Arrays in, numbers out. Knows none of our nouns; imports nothing of ``core`` but this
package.

What is undefined is ``None`` with a reason, never NaN and never 0 or 1 as a stand-in.
"""
