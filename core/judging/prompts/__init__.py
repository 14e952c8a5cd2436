"""What a judge is sent, word for word, and how its reply is read.

Pure: asks nobody. A changed word is a new prompt version.
"""
