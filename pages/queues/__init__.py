"""What people are to look at: queues made, worked off, watched."""
