"""What a person may ask for, in verbs: pages and the command line call these and nothing below."""
