"""The report of a plan as figures, text, page and picture; docs/Report.md describes it."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable
from typing import Any

from .budget import format_bytes
from .errors import CkptError
from .files import write_text


class Report:
    """What a plan takes and makes again, in bytes, nanoseconds and FLOPs.

    Attributes:
        figures: by the keys of docs/Report.md, such as `peak_bytes`.
    """

    def __init__(self, write: Callable[[str], str]) -> None:
        """`write` returns the report in the format that the end of a file's name asks for."""
        self._write = write

    @functools.cached_property
    def data(self) -> dict[str, Any]:
        """The report file as Python objects."""
        return json.loads(self._write("report.json"))

    @property
    def figures(self) -> dict[str, Any]:
        return {key: value for key, value in self.data.items() if not isinstance(value, (list, dict, type(None)))}

    def json(self) -> str:
        """The figures as a JSON object."""
        return json.dumps(self.figures, indent=2)

    @property
    def html(self) -> str:
        """A page of its own: figures, live ranges and recomputations."""
        return self._write("report.html")

    def save(self, path: str) -> None:
        """Writes the report: a page (.html), a picture (.svg) or JSON, by the end of `path`."""
        write_text(path, self._write(path))

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{self.html.replace("&", "&amp;").replace(chr(34), "&quot;")}" width="100%" height="700"></iframe>'

    @property
    def frontier(self) -> list[dict[str, int]]:
        """The points of the curve, if the plan was asked for one."""
        table = self.data["frontier_table"]
        return [dict(zip(table["columns"], row)) for row in table["data"]]

    def __str__(self) -> str:
        figures = self.figures
        lines = [f"ckpt: {figures['title']} in {figures['kernels']:,} kernels; strategy: {figures['strategy']}"]
        lines.append(f"  {'':10} {'peak':>14} {'bytes moved':>14} {'planned time':>14}")
        for name, key in (("as written", "written"), ("baseline", "baseline"), ("plan", "")):
            peak, moved, time = (f"{key}_{figure}".lstrip("_") for figure in ("peak_bytes", "bytes_moved", "cost_ns"))
            spent = f"{figures[time] / 1e6:,.3f} ms" if time in figures else ""
            line = f"  {name:10} {format_bytes(figures[peak]):>14} {format_bytes(figures[moved]):>14} {spent:>14}"
            lines.append(line.rstrip())
        flops = max(1, figures["flops"])
        lines.append(
            f"  extra work {100 * figures['extra_flops'] / flops:.2f} % of the step's FLOPs; "
            f"no plan within this arena does with less than {100 * figures['extra_flops_bound'] / flops:.2f} %"
        )
        if figures["warning"]:
            lines.append(f"  warning: {figures['warning']}")
        lines.append(f"  planned in {figures['planning_ms'] / 1000:.1f} s")
        return "\n".join(lines)


@dataclasses.dataclass
class PlannedReport:
    """Figures of one framework, beside the report of the plan itself.

    Attributes:
        schedule: of the plan, in bytes of its arena; `None` where the step runs unplanned.
        prove_share: what `extra_flops_bound_share` takes its time for.
    """

    schedule: Report | None = dataclasses.field(default=None, repr=False, compare=False, kw_only=True)
    prove_share: Callable[[], float] | None = dataclasses.field(default=None, repr=False, compare=False, kw_only=True)

    @functools.cached_property
    def extra_flops_bound_share(self) -> float:
        """No plan within the same arena repeats less, as a share of the step's FLOPs; proven when it is asked for."""
        return self.prove_share() if self.prove_share else 0.0

    def json(self) -> str:
        """The figures of the framework as a JSON object."""
        fields = [field.name for field in dataclasses.fields(self) if field.name not in ("schedule", "prove_share")]
        fields.append("extra_flops_bound_share")
        return json.dumps({name: getattr(self, name) for name in fields}, indent=2)

    @property
    def html(self) -> str:
        """A page of its own: figures, live ranges and recomputations of the plan."""
        return self._planned().html

    def save(self, path: str) -> None:
        """Writes the report of the plan: a page (.html), a picture (.svg) or JSON, by the end of `path`."""
        self._planned().save(path)

    def _repr_html_(self) -> str:
        return self._planned()._repr_html_()

    def _planned(self) -> Report:
        if self.schedule is None:
            raise CkptError("the step meets its budget as it is: there is no plan to draw")
        return self.schedule
