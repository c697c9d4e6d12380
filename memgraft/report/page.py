"""The report of a comparison as one HTML file that needs nothing else: no network, no other file.

The template escapes every value; the pictures hold numbers and Memgraft's own words only.
"""

from collections.abc import Sequence

from bokeh.embed import components
from bokeh.resources import Resources
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from memgraft.experiment.design import Side
from memgraft.experiment.outcome import Outcome
from memgraft.jvm import launch
from memgraft.report import facts, figures
from memgraft.version import version
from memgraft.words import seconds_of


def render(outcome: Outcome, warnings: Sequence[str]) -> str:
    """The page as text."""
    pictures = {
        "distributions": figures.distributions(outcome),
        "ratios": figures.ratios(outcome),
        # A launch that is both sides has no place in a picture of sides.
        "in_order": None if outcome.switched else figures.in_order(outcome),
        "epochs": figures.epoch_costs(outcome),
        "iterations": None if outcome.switched else figures.iteration_times(outcome),
    }
    script, places = components({name: picture for name, picture in pictures.items() if picture is not None})
    return template("template.html.j2").render(
        title=f"{outcome.program}: {outcome.settings.selection} against {_baseline(outcome)}",
        verdict=facts.verdict(outcome),
        kind=outcome.headline.verdict.replace(" ", "-"),
        warnings=warnings,
        compared=facts.compared_rows(outcome),
        metrics=facts.metric_rows(outcome),
        done=outcome.rows(Side.GRAFTED),
        baseline_done=outcome.rows(Side.BASELINE),
        said={name for name, of_sides in outcome.done.items() if any(of_sides.values())},
        epochs=facts.epoch_rows(outcome),
        baseline=outcome.labels[Side.BASELINE],
        grafted=outcome.labels[Side.GRAFTED],
        stock=outcome.settings.stock,
        noise=facts.noise_rows(outcome),
        machine=facts.machine_rows(outcome),
        launches=_launches(outcome),
        headline=outcome.headline.metric.noun,
        pairing=outcome.settings.pairing,
        version=version(),
        # Written by Bokeh, not by anything that was measured.
        pictures={name: Markup(place) for name, place in places.items()},  # noqa: S704
        scripts=embedded(script),
    )


def template(name: str) -> Template:
    """A template of this folder; it escapes every value."""
    environment = Environment(
        loader=PackageLoader("memgraft.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def embedded(script: str) -> Markup:
    """Bokeh itself and the pictures' own script, written by Bokeh and not by anything that was measured."""
    return Markup(Resources(mode="inline", components=["bokeh"]).render() + script)  # noqa: S704


def _baseline(outcome: Outcome) -> str:
    return "the stock" if outcome.settings.stock else str(outcome.settings.baseline)


def _launches(outcome: Outcome) -> list[dict[str, str]]:
    """One row per launch, in the order in which they ran, for readers of numbers and for those without scripts."""
    metric, warmup = outcome.headline.metric, outcome.settings.warmup_iterations
    rows = []
    for done in outcome.launches:
        seconds = metric.seconds(done, warmup)
        rows.append(
            {
                "number": str(done.number),
                "side": outcome.settings.name(done.side),
                "pair": "warm-up" if done.planned.pair is None else str(done.planned.pair),
                "cpus": ", ".join(map(str, done.planned.cpus)) or "any",
                "headline": "-" if seconds is None else seconds_of(seconds),
                "wall": seconds_of(done.ended.wall_seconds),
                "cpu": seconds_of(done.ended.cpu_seconds),
                "end": launch.describe_exit(done.ended.exit_code),
            }
        )
    return rows
