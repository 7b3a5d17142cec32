"""Many cases one after another in one compiled loop, and what follows from their states."""
