"""Many cases side by side, one in each lane of the processor, or one in each thread of a device: steps, stages, limits."""
