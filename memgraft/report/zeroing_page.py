"""A calibration as one HTML file that needs nothing else, in the style of a comparison's page."""

from bokeh.embed import components
from markupsafe import Markup

from memgraft import machine
from memgraft.kernels.best_kernels import changes
from memgraft.kernels.calibrate import Calibration
from memgraft.kernels.zero_results import CALIBRATED, MEMSET, STREAMING, relative_times, throughputs
from memgraft.kernels.zero_verdict import sentences
from memgraft.report import page, zeroing_figures
from memgraft.statistics import Interval
from memgraft.version import version
from memgraft.words import bytes_of, count_of


def render(calibration: Calibration) -> str:
    """The page as text."""
    measured = calibration.measured
    times = relative_times(measured.results)
    streamed = throughputs(measured.results, STREAMING)
    kernels = zeroing_figures.Kernels({result.kernel for result in measured.results} - {CALIBRATED})
    defaults = [measured.context.get(f"chosen_{kind}") for kind in ("ordinary", "non_temporal")]
    compared = list(dict.fromkeys(name for name in (MEMSET, *defaults) if name in kernels.order))
    non_temporal = [name for name in kernels.order if name.startswith("non-temporal")]
    verdict = calibration.verdict
    claims = list(vars(verdict).values())
    pictures = {
        "below": zeroing_figures.relative_times(times, kernels, below=True),
        "above": zeroing_figures.relative_times(times, kernels, below=False),
        "throughputs": zeroing_figures.throughputs(streamed, kernels, compared),
        "scaling": zeroing_figures.scaling(streamed, kernels, [MEMSET, *non_temporal]),
    }
    script, places = components({name: picture for name, picture in pictures.items() if picture is not None})
    return page.template("zeroing.html.j2").render(
        title=f"zeroing kernels on {calibration.cpu}",
        claims=[
            {"kind": {"holds": "faster", "fails": "slower"}.get(claim.verdict, "not-resolved"), "text": sentence}
            for claim, sentence in zip(claims, sentences(verdict), strict=True)
        ],
        keys={
            "all": kernels.key(kernels.order),
            "compared": kernels.key(compared),
            "non_temporal": kernels.key([MEMSET, *non_temporal]),
        },
        chosen=[
            {
                "mode": row.mode,
                "threads": str(row.threads),
                "size": bytes_of(row.from_bytes),
                "kernel": row.kernel,
                "ratio": _ratio(decision.ratio_to_memset),
                "reason": decision.reason,
            }
            for row, decision in zip(calibration.rows, changes(calibration.decisions), strict=True)
        ],
        machine=machine.lines(calibration.machine),
        repetitions=count_of(measured.repetitions, "repetition"),
        streamed=bytes_of(int(measured.context["streamed_bytes"])) if "streamed_bytes" in measured.context else "?",
        late=bytes_of(int(measured.context["late_bytes"])) if "late_bytes" in measured.context else "?",
        table=str(calibration.path),
        started=calibration.started.isoformat(timespec="seconds"),
        notes=measured.notes,
        version=version(),
        # Written by Bokeh, not by anything that was measured.
        pictures={name: Markup(place) for name, place in places.items()},  # noqa: S704
        scripts=page.embedded(script),
    )


def _ratio(ratio: Interval | None) -> str:
    return f"{ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]" if ratio else "-"
