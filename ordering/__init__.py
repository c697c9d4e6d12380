"""In which order others see what a thread does to memory."""
