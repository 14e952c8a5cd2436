"""Help from a model: prompts, replies, and the verbs against a scripted provider."""
