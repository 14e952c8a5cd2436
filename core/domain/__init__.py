"""The nouns: frozen, valid by construction, no I/O, no clock, no numbers beyond what they hold."""
