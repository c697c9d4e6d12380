"""The save tools of the pictures, named after what they show."""

from bokeh.models import SaveTool
from bokeh.plotting import figure


class Saving:
    """Every picture's save tool."""

    def __init__(self) -> None:
        self._tools: dict[str, SaveTool] = {}

    def tool(self, name: str) -> SaveTool:
        return self._tools.setdefault(name, SaveTool())

    def rename(self, stem: str) -> None:
        """Names the files that will be saved."""
        for name, tool in self._tools.items():
            tool.filename = f"{stem}-{name}"


def saved(made: figure, name: str, saving: Saving) -> None:
    """Gives a picture its name, and a button that saves it."""
    made.name = name
    made.add_tools(saving.tool(name))
    made.toolbar_location = "right"
    made.toolbar.logo = None
    made.toolbar.autohide = True
