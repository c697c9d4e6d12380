"""A colour for each node, told apart with any colour vision."""

# Okabe and Ito's eight (Color Universal Design, 2008), the two that resemble each other least first.
OKABE_ITO = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000")
GAP = "#e4e4e4"
ABSENT = "#00000000"
MOST = 64


def of_nodes(count: int) -> list[str]:
    """The first eight are distinct at a glance; up to 64 are lighter and darker ones of these; then they return."""
    return [_shade(OKABE_ITO[at % len(OKABE_ITO)], at % MOST // len(OKABE_ITO)) for at in range(count)]


def _shade(colour: str, step: int) -> str:
    """Lighter in odd steps, darker in even ones; black can only be lighter."""
    amount = 0.11 * step
    darker = step % 2 == 0 and colour != "#000000"
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    mixed = (round(c * (1 - amount)) if darker else round(c + (255 - c) * amount) for c in channels)
    return "#" + "".join(f"{c:02x}" for c in mixed)
