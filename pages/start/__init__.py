"""The first screen: the worked example, and where to go."""
