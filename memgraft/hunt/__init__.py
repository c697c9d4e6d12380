"""Which field lacks `volatile`? For a program that fails sometimes, and not when it is sequentially consistent."""
