"""The report of a comparison as one HTML file that needs nothing else: no network, no other file.

The template escapes every value; the pictures hold numbers and Memgraft's own words only.
"""

from collections.abc import Mapping, Sequence

from bokeh.embed import components
from bokeh.plotting import figure
from bokeh.resources import Resources
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memgraft import __version__, launch
from memgraft.grafts import describe
from memgraft.outcome import Outcome
from memgraft.report import facts, figures
from memgraft.words import seconds_of


def render(outcome: Outcome, warnings: Sequence[str]) -> str:
    """The page as text."""
    pictures = {
        "distributions": figures.distributions(outcome),
        "ratios": figures.ratios(outcome),
        "in_order": figures.in_order(outcome),
        "iterations": figures.iteration_times(outcome),
    }
    return fill(
        "template.html.j2",
        pictures,
        title=f"{outcome.program}: {describe(outcome.settings.selection)} against the stock",
        verdict=facts.verdict(outcome),
        kind=outcome.headline.verdict.replace(" ", "-"),
        warnings=warnings,
        compared=facts.compared_rows(outcome),
        metrics=facts.metric_rows(outcome),
        zeroing=facts.zeroing_rows(outcome),
        noise=facts.noise_rows(outcome),
        machine=facts.machine_rows(outcome),
        launches=_launches(outcome),
        headline=outcome.headline.metric.noun,
        pairing=outcome.settings.pairing,
    )


def fill(template: str, pictures: Mapping[str, figure | None], **values: object) -> str:
    """A template with its values and with those pictures that there are."""
    script, places = components({name: picture for name, picture in pictures.items() if picture is not None})
    environment = Environment(
        loader=PackageLoader("memgraft.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(
        **values,
        version=__version__,
        # Written by Bokeh, not by anything that was measured.
        pictures={name: Markup(place) for name, place in places.items()},  # noqa: S704
        scripts=Markup(Resources(mode="inline", components=["bokeh"]).render() + script),  # noqa: S704
    )


def _launches(outcome: Outcome) -> list[dict[str, str]]:
    """One row per launch, in the order in which they ran, for readers of numbers and for those without scripts."""
    metric, warmup = outcome.headline.metric, outcome.settings.warmup_iterations
    rows = []
    for done in outcome.launches:
        seconds = metric.seconds(done.ended, done.iterations, warmup)
        rows.append(
            {
                "number": str(done.number),
                "side": str(done.side),
                "pair": "warm-up" if done.planned.pair is None else str(done.planned.pair),
                "cpus": ", ".join(map(str, done.planned.cpus)) or "any",
                "headline": "-" if seconds is None else seconds_of(seconds),
                "wall": seconds_of(done.ended.wall_seconds),
                "cpu": seconds_of(done.ended.cpu_seconds),
                "end": launch.describe_exit(done.ended.exit_code),
            }
        )
    return rows
