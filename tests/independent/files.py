"""The checker of a saved channel: privacy, value, and the bound by the five slots."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.independent.bounds import bound
from tests.independent.rationals import (
    ONE,
    PI,
    ZERO,
    Interval,
    RefusedError,
    Unable,
    Vector,
    dot,
    exactly,
    ln,
    need,
    root,
)
from tests.independent.reading import (
    LEAST_DOUBLE,
    Inputs,
    claim,
    close,
    exact,
    keys,
    label,
    labels,
    number,
    read_domain,
    seal,
    sequence,
    text,
    whole,
)
from tests.independent.statement import Aim, Notion, Problem, private, read_problem

__all__ = ["RefusedError", "Unable", "check", "check_privacy", "columns_of", "proved"]

TOP = {"format", "version", "channel", "problem", "digest"}
CLAIMED = {"status", "objective", "sense", "value", "bound", "gap", "bound_proved", "privacy"}
WORDS = {"title", "source", "route", "why", "notes", "considered", "seconds", "timings", "binding"}
NEAR = Fraction(1, 10**6)


def check(document: Any) -> None:
    """Check every claim of a parsed file.

    Raises RefusedError where one is false, and Unable where that is too much work.
    """
    need(isinstance(document, dict), "a table")
    need(document.get("format") == "mechdesign-channel", "a format")
    need(type(document.get("version")) is int and document["version"] == 2, "version 2")
    need(document.get("digest") == seal(document), "the digest")
    if "law" in document or "rounding" in document:
        raise Unable("a law in the place of a matrix, or an input that is continuous")
    if set(document["problem"]) == {"domain"}:
        keys(document, TOP, WORDS)
        columns_of(document["channel"], read_domain(document["problem"]["domain"]))
        return
    keys(document, TOP, CLAIMED | WORDS | {"certificate"})
    problem = read_problem(document["problem"])
    columns, used = columns_and_places(document, problem)
    check_privacy(document["privacy"], problem, columns)
    aim = problem.statement.aim
    need(document["sense"] == ("maximize" if aim.sign < 0 else "minimize"), "the sense")
    need(document["objective"] == document["problem"]["utility"]["objective"], "the objective")
    check_decoder(document, problem, columns)
    low, high = value(aim, columns, used, document["channel"])
    ends = (low, high) if aim.sign > 0 else (-high, -low)
    need(close(document["value"], ends), "the value")
    check_bound(document, problem, max(abs(low), abs(high)))


def columns_and_places(document: Any, problem: Problem) -> tuple[list[Vector], list[int]]:
    """Return the exact columns, and the place of each among the outputs that are allowed."""
    columns, outputs = columns_of(document["channel"], problem.inputs)
    if problem.outputs is None or problem.statement.aim.free:
        return columns, list(range(len(columns)))
    need(set(outputs) <= set(problem.outputs), "outputs that are allowed")
    return columns, [problem.outputs.index(y) for y in outputs]


def check_bound(document: dict[str, Any], problem: Problem, size: Fraction) -> None:
    sign, stated = problem.statement.aim.sign, claim(document["bound"])
    need(sign * stated <= sign * claim(document["value"]) + size / 2**40, "a bound so good")
    found = claim(document["value"])
    gap = abs(found - stated) / max(Fraction(1, 10**12), abs(found))
    need(abs(claim(document["gap"]) - gap) <= max(ONE, gap) / 10**9, "the gap")
    need(document["status"] == ("optimal" if gap <= NEAR else "bounded"), "the status")
    need(document["bound_proved"] is True, "a bound that is said to be proved")
    most = bound(problem.statement, document.get("certificate"))
    need(sign * stated <= most + abs(most) / 10**12 + Fraction(1, 10**15), "the bound")


def proved(document: dict[str, Any]) -> Fraction:
    """Return the most that the certificate of a file proves, of the objective minimized."""
    return bound(read_problem(document["problem"]).statement, document["certificate"])


def columns_of(stated: Any, inputs: Inputs) -> tuple[list[Vector], list[Any]]:
    """Return the exact columns and the outputs."""
    must = ["inputs", "outputs", "matrix", "bits", "numerators"]
    table = keys(stated, must, ["decoder", "readings"])
    need([label(x) for x in sequence(table["inputs"])] == inputs.labels, "the inputs")
    outputs, bits = labels(table["outputs"]), table["bits"]
    need(type(bits) is int and 1 <= bits <= 4096, "bits")
    rows = [
        [whole(entry) for entry in sequence(row, len(outputs))]
        for row in sequence(table["numerators"], len(inputs))
    ]
    need({sum(row) for row in rows} == {1 << bits}, "rows that sum to 1")
    parts = [[Fraction(entry, 1 << bits) for entry in row] for row in rows]
    floats = [sequence(row, len(outputs)) for row in sequence(table["matrix"], len(inputs))]
    for stated_row, row in zip(floats, parts, strict=True):
        need(all(close(s, exactly(e)) for s, e in zip(stated_row, row, strict=True)), "the matrix")
    return list(zip(*parts, strict=True)), outputs


# --- privacy --------------------------------------------------------------------------------------


def check_privacy(stated: Any, problem: Problem, columns: list[Vector]) -> None:
    for table, notion in zip(sequence(stated, len(problem.notions)), problem.notions, strict=True):
        budgets = {"epsilon", "delta"} & set(notion.table)
        also = budgets | ({"secret"} & set(notion.table))
        keys(table, ["notion", "leakage", "certified", *also])
        need(table["notion"] == notion.name and table["certified"] is True, "the notion")
        for key in budgets:
            need(claim(table[key]) == claim(float(getattr(notion, key))), key)
        cone, limits = notion.stated()
        need(private(cone, limits, columns), f"not private: {notion.name}")
        bounds = bool(limits) or any(part.rows for part in cone)
        check_leakage(notion, columns, table["leakage"], bounds)


def check_leakage(notion: Notion, columns: list[Vector], stated: Any, bounds: bool) -> None:
    """Check that the stated leakage is the least at which the notion holds."""
    least = claim(stated)
    slack = (1 + abs(least)) / 10**9
    has_epsilon = notion.epsilon is not None
    need(least >= 0 or not has_epsilon, "a leakage of at least 0")
    if not bounds:
        need(0 <= least <= slack, "the leakage where nothing is bounded")
        return
    need(notion.holds(columns, least + slack / 10**3), "leaks more than stated")
    if not has_epsilon or least >= slack:
        need(not notion.holds(columns, least - slack), "leaks less than stated")


# --- what is read from outputs --------------------------------------------------------------------


def decoder(document: dict[str, Any], problem: Problem, columns: list[Vector]) -> list[Any] | None:
    """Return the likeliest input, the posterior mean or the posterior of each output."""
    utility, p = document["problem"]["utility"], problem.prior or ()
    if utility["objective"] not in ("bayes-accuracy", "posterior-mean-squared-error"):
        return None
    found: list[Any] = []
    for q in columns:
        weighed = [a * b for a, b in zip(p, q, strict=True)]
        weighed = weighed if any(weighed) else list(p)
        posterior = tuple(v / sum(weighed) for v in weighed)
        if "values" in utility:
            found.append(dot(posterior, tuple(map(exact, utility["values"]))))
        elif "histogram" in utility:
            found.append(list(posterior))
        else:
            found.append(problem.inputs.labels[posterior.index(max(posterior))])
    return found


def check_decoder(document: dict[str, Any], problem: Problem, columns: list[Vector]) -> None:
    stated, aim = document["channel"].get("decoder"), problem.statement.aim
    need(("readings" in document["channel"]) == (aim.form == "reading"), "readings of numbers")
    if aim.form == "reading":
        return
    if aim.form == "risk":
        check_estimator(stated, aim, columns)
        return
    found = decoder(document, problem, columns)
    need((stated is None) == (found is None), "a decoder where one is read")
    for entry, own in zip(sequence(stated or [], len(found or [])), found or [], strict=True):
        if document["objective"] == "bayes-accuracy":
            need(label(entry) == own, "the first of the likeliest inputs")
            continue
        pairs = zip(entry, own, strict=True) if isinstance(own, list) else [(entry, own)]
        need(all(close(e, exactly(v)) for e, v in pairs), "the posterior")


def check_estimator(stated: Any, aim: Aim, columns: list[Vector]) -> None:
    """Check the readings M**-1 q_y / (p . q_y), p where an output never occurs."""
    if aim.weights is None or len(aim.weights) > 8:
        raise Unable("the estimator of a worst case, or of many inputs")
    p, rows = aim.weights, inverse(information(columns, aim.weights))
    for told, q in zip(sequence(stated, len(columns)), columns, strict=True):
        law = dot(p, q)
        own = [dot(tuple(row), q) / law for row in rows] if law else list(p)
        off = max(max(map(abs, own)) / 10**12, LEAST_DOUBLE)
        shown = zip(sequence(told, len(p)), own, strict=True)
        need(all(abs(number(e) - v) <= off for e, v in shown), "the estimator")


# --- the value ------------------------------------------------------------------------------------


def value(aim: Aim, columns: list[Vector], used: list[int], channel: dict[str, Any]) -> Interval:
    """Return bounds on the objective, which is minimized."""
    if aim.form == "loss":
        return loss(aim, columns, used)
    if aim.form == "gain":
        terms = [aim.gain(q) for q in columns]
        return aim.constant - sum(b for _, b in terms), aim.constant - sum(a for a, _ in terms)
    if aim.form == "reading":
        return exactly(variance(aim, columns, readings(channel, len(columns))))
    if aim.weights is None:
        raise Unable("the value of a worst-case risk")
    return risk(aim, columns, aim.weights)


def loss(aim: Aim, columns: list[Vector], used: list[int]) -> Interval:
    ends = []
    for end in (0, 1):
        costs = [tuple(c[end] for c in cost) for cost in aim.costs]
        if aim.free:
            weighed = [tuple(a * b for a, b in zip(aim.weights, q, strict=True)) for q in columns]
            ends.append(sum(min(dot(c, q) for c in costs) for q in weighed))
            continue
        pairs = [(costs[y], q) for y, q in zip(used, columns, strict=True)]
        rows = [sum(c[x] * q[x] for c, q in pairs) for x in range(len(columns[0]))]
        ends.append(max(rows) if aim.weights is None else dot(aim.weights, tuple(rows)))
    return Fraction(ends[0]), Fraction(ends[1])


def readings(channel: dict[str, Any], m: int) -> Vector:
    table = keys(channel.get("readings"), ["numerators", "denominator"])
    bottom = whole(table["denominator"])
    need(bottom > 0, "a denominator")
    tops = map(text, sequence(table["numerators"], m))
    v = tuple(Fraction(whole(t.removeprefix("-")), bottom * (-1) ** (t[:1] == "-")) for t in tops)
    if "decoder" in channel:
        off = max(max(map(abs, v)) / 10**12, LEAST_DOUBLE)
        told = zip(sequence(channel["decoder"], m), v, strict=True)
        need(all(abs(number(e) - a) <= off for e, a in told), "the readings")
    return v


def variance(aim: Aim, columns: Sequence[Vector], v: Vector) -> Fraction:
    rows = list(zip(*columns, strict=True))
    need(all(dot(r, v) == f for r, f in zip(rows, aim.values, strict=True)), "unbiased readings")
    squares = tuple(a * a for a in v)
    spread = tuple(dot(r, squares) - f * f for r, f in zip(rows, aim.values, strict=True))
    return max(spread) if aim.weights is None else dot(aim.weights, spread)


def risk(aim: Aim, columns: Sequence[Vector], p: Vector) -> Interval:
    """Return the risk of the best unbiased estimator, by the inverse of M in rationals."""
    k = len(p)
    if k > 8:
        raise Unable("the inverse of a large matrix")
    M = information(columns, p)
    spread = [row[x] - p[x] ** 2 for x, row in enumerate(inverse(M))]
    if not aim.roots:
        return exactly(sum(spread, ZERO))
    roots = [root(max(ZERO, v)) for v in spread]
    low, high = root(1 / (2 * PI[1]))[0], root(1 / (2 * PI[0]))[1]
    return low * sum(a for a, _ in roots), high * sum(b for _, b in roots)


def information(columns: Sequence[Vector], p: Vector) -> list[list[Fraction]]:
    M = [[ZERO] * len(p) for _ in p]
    for q in columns:
        if law := dot(p, q):
            for x, a in enumerate(q):
                for z, b in enumerate(q):
                    M[x][z] += a * b / law
    return M


def inverse(M: list[list[Fraction]]) -> list[list[Fraction]]:
    k = len(M)
    rows = [[*row, *(ONE * (x == z) for z in range(k))] for x, row in enumerate(M)]
    for x in range(k):
        pivot = next((n for n in range(x, k) if rows[n][x]), None)
        need(pivot is not None, "an invertible matrix")
        rows[x], rows[pivot] = rows[pivot], rows[x]
        rows[x] = [v / rows[x][x] for v in rows[x]]
        for n in range(k):
            if n != x and rows[n][x]:
                rows[n] = [a - rows[n][x] * b for a, b in zip(rows[n], rows[x], strict=True)]
    return [row[k:] for row in rows]


# --- what a file could claim ----------------------------------------------------------------------


def claims_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a file of a channel could claim, were its problem and its channel meant so."""
    problem = read_problem(document["problem"])
    columns, used = columns_and_places(document, problem)
    aim = problem.statement.aim
    high = value(aim, columns, used, document["channel"])[1]
    claims: dict[str, Any] = {"value": float(high if aim.sign > 0 else -high), "privacy": []}
    claims["sense"] = "maximize" if aim.sign < 0 else "minimize"
    claims["objective"] = document["problem"]["utility"]["objective"]
    old = [*document["privacy"], *([{"leakage": 0.0}] * len(problem.notions))]
    for told, notion in zip(old, problem.notions, strict=False):
        new = {"notion": notion.name, "leakage": told["leakage"], "certified": True}
        new |= {
            key: float(getattr(notion, key)) for key in notion.table if key in ("epsilon", "delta")
        }
        if "secret" in notion.table:
            new["secret"] = notion.table["secret"]["values"]
        found = leakage(notion, columns)
        claims["privacy"].append(new if found is None else new | {"leakage": found})
    if document.get("certificate") is not None:
        most = bound(problem.statement, document["certificate"])
        claims |= {"bound": float(most * aim.sign), "bound_proved": True}
    return claims


def leakage(notion: Notion, columns: Sequence[Vector]) -> float | None:
    """Return the least budget at which the rows hold, in floats; None if limits are asked for."""
    (cone, limits), (later, _) = notion.at(ZERO), notion.at(ONE)
    if limits or notion.delta:
        return None
    found = ZERO if notion.epsilon is not None else Fraction(-(10**6))
    for part, other in zip(cone, later, strict=True):
        for key, row in part.rows.items():
            base = row.exponent[0]
            slope = other.rows[key].exponent[0] - base
            for q in columns:
                left, right = dot(row.left, q), dot(row.right, q)
                if left and right and slope:
                    found = max(found, (ln(left / right)[1] - base) / slope)
    found *= 1 + Fraction(1, 10**12) * (1 if found > 0 else -1)
    return float(found if any(part.rows for part in cone) else ZERO)
