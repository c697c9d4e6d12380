"""The words of the page as HTML: every value escaped, in the reports' style."""

import re
from functools import cache

from bokeh.models import InlineStyleSheet
from bokeh.models.widgets import Div
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template

OWN_RULES = """
:host { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); width: 100%; }
.bk-clearfix { width: 100%; }
.state { display: inline-block; border: 1px solid var(--line); border-radius: 1rem; padding: .05rem .7rem;
  margin-right: .4rem; font-size: .9rem; background: var(--box); }
.dry { border-color: var(--unresolved); color: var(--unresolved); font-weight: 600; }
.states, .moment { margin: 0; }
.moment { font-variant-numeric: tabular-nums; font-size: .95rem; }
.key { margin: .2rem 0; }
.key svg { vertical-align: -2px; border: 1px solid #88888888; }
dl { font-size: .95rem; }
"""


@cache
def _environment() -> Environment:
    return Environment(
        # The style is the reports'.
        loader=ChoiceLoader([PackageLoader("memgraft.watch", "."), PackageLoader("memgraft.report", ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template(name: str) -> Template:
    """A template of this folder, or of the reports."""
    return _environment().get_template(name)


def part(name: str, *values: object) -> str:
    """A part of the page."""
    return str(getattr(template("parts.html.j2").module, name)(*values))


@cache
def style() -> str:
    """The page's own rules, for what Bokeh keeps in shadow trees, where those of the page do not reach."""
    return re.sub(r"</?style>", "", template("style.html.j2").render()) + OWN_RULES


def words(name: str) -> Div:
    """A place for words."""
    rules = InlineStyleSheet(css=style())
    return Div(name=name, stylesheets=[rules], sizing_mode="stretch_width", margin=0, text="")
