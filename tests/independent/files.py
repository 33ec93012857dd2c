"""The checker: every claim in a file of a channel, of a mechanism or of a bare channel."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

from tests.independent.bounds import (
    LOSSES,
    MAXIMIZED,
    OBJECTIVES,
    READ,
    RISKS,
    Problem,
    Prover,
    costs,
    estimator,
    value,
    variance,
    worst_risk,
)
from tests.independent.privacy import Notion, leaks
from tests.independent.purposes import PURPOSES, SCORES, read_terms
from tests.independent.rationals import ONE, ZERO, RefusedError, Unable, Vector, dot, exactly, need
from tests.independent.reading import (
    LEAST_DOUBLE,
    Inputs,
    claim,
    close,
    distribution,
    fraction,
    index,
    keys,
    label,
    labels,
    number,
    parse,
    read_domain,
    seal,
    sequence,
    text,
    whole,
)

__all__ = ["RefusedError", "Unable", "check", "check_text", "claims_of"]

TOP = ["format", "version", "status", "objective", "sense", "value", "bound", "gap"]
TOP += ["bound_proved", "route", "privacy", "channel", "problem", "certificate", "digest"]
TOP += ["title", "source", "seconds", "timings", "why", "considered", "notes"]
PHASES = ["compile", "presolve", "solve", "repair", "certify"]
BITS_OF_LAWS = 1 << 62


def check_text(text: bytes | str) -> None:
    check(parse(text))


def check(document: Any) -> None:
    """Check every claim of a parsed file.

    Raises RefusedError where one is false, and Unable where that is too much work.
    """
    need(isinstance(document, dict), "a table")
    need(type(document.get("version")) is int and document["version"] == 1, "version 1")
    need(document.get("digest") == seal(document), "the digest")
    kind = document.get("format")
    if kind == "mechdesign-channel":
        check_words(keys(document, TOP))
        check_channel(document)
    elif kind == "mechdesign-bare-channel":
        keys(document, ["format", "version", "domain", "channel", "digest"])
        read_channel(document["channel"], read_domain(document["domain"]), bare=True)
    else:
        need(kind == "mechdesign-mechanism", "a format")
        check_mechanism(document)


# --- channels -----------------------------------------------------------------------------------


def check_words(document: dict[str, Any]) -> None:
    """Check the form of what proves nothing."""
    for key in ("title", "source", "route", "why"):
        text(document[key])
    for note in sequence(document["notes"]):
        text(note)
    for entry in sequence(document["considered"]):
        for words in keys(entry, ["name", "reason"]).values():
            text(words)
    seconds = [document["seconds"], *keys(document["timings"], [], PHASES).values()]
    need(min(map(number, seconds)) >= 0, "seconds")


def check_channel(document: dict[str, Any]) -> None:
    problem, own = read_problem(document["problem"])
    columns, outputs = read_channel(document["channel"], problem.inputs)
    used = outputs_among(outputs, problem.outputs)
    check_privacy(document["privacy"], problem, columns)
    objective = document["objective"]
    need(objective == problem.objective, "the objective")
    known = objective in OBJECTIVES
    if known:
        need(
            document["sense"] == ("maximize" if objective in MAXIMIZED else "minimize"), "the sense"
        )
    need(document["sense"] in ("minimize", "maximize"), "a sense")
    certificate = document["certificate"]
    need(isinstance(certificate, dict), "a certificate")
    if known:
        W = check_decoder(document["channel"].get("decoder"), problem, columns, certificate)
        need((problem.objective == READ) == ("readings" in document["channel"]), "readings")
        if problem.objective == READ:
            v = read_readings(document["channel"], len(columns))
            found = exactly(variance(problem, columns, v))
        elif problem.objective in RISKS and problem.worst:
            found = worst_risk(problem.objective, columns, W)
        else:
            found = value(problem, columns, used)
        need(close(document["value"], found), "the value")
    if "numeric" in certificate:
        need(own and document["bound_proved"] is False, "a bound that could be proved")
        keys(certificate, ["theorem", "dual", "numeric"])
        need(certificate["numeric"] is True, "numeric")
        need(certificate["theorem"] is certificate["dual"] is None, "no proof of a numeric bound")
    else:
        need(not own and document["bound_proved"] is True, "a bound that is not proved")
        prover, best = Prover(problem), claim(document["bound"])
        proved = [*prover.bound(certificate), prover.truth(None)]
        best -= abs(best) / 2**52 * (-1 if objective in MAXIMIZED else 1)  # as a double says it
        met = [best >= b if objective in MAXIMIZED else best <= b for b in proved if b is not None]
        need(any(met), "the bound")
    sign = -1 if document["sense"] == "maximize" else 1
    reached = found if known else exactly(claim(document["value"]))
    need(sign * claim(document["bound"]) <= max(sign * v for v in reached), "a bound so good")
    check_gap(document)


def claims_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a file of a channel could claim, were its problem and its channel meant so."""
    problem, own = read_problem(document["problem"])
    columns, outputs = read_channel(document["channel"], problem.inputs)
    used = outputs_among(outputs, problem.outputs)
    stated = []
    for old, notion in zip(sequence(document["privacy"]), problem.notions, strict=False):
        new = {"notion": notion.name, "leakage": old["leakage"], "certified": True}
        new |= {
            key: float(fraction(notion.table[key]))
            for key in {"epsilon", "delta"} & set(notion.table)
        }
        if notion.secret:
            new["secret"] = notion.table["secret"]["values"]
        if notion.rows:
            new["leakage"] = notion.leakage(columns)
        stated.append(new)
    claims: dict[str, Any] = {
        "privacy": stated,
        "objective": problem.objective,
        "bound_proved": not own,
    }
    if problem.objective in OBJECTIVES:
        claims["sense"] = "maximize" if problem.objective in MAXIMIZED else "minimize"
        if problem.objective == READ:
            v = read_readings(document["channel"], len(columns))
            claims["value"] = float(variance(problem, columns, v))
        else:
            claims["value"] = float(value(problem, columns, used)[0])
    if not own:
        proved = [float(b) for b in Prover(problem).bound(document["certificate"])]
        if proved:
            claims["bound"] = (min if problem.objective in MAXIMIZED else max)(proved)
    return claims


def check_gap(document: dict[str, Any]) -> None:
    found, bound, stated = (claim(document[key]) for key in ("value", "bound", "gap"))
    gap = abs(found - bound) / max(Fraction(1, 10**12), abs(found))
    need(stated >= 0 and abs(stated - gap) <= Fraction(1, 10**9), "the gap")
    near = Fraction(1, 10**6)
    need(document["status"] == ("optimal" if stated <= near else "bounded"), "the status")


def read_problem(stated: Any) -> tuple[Problem, bool]:
    table = keys(stated, ["domain", "prior", "privacy", "utility", "outputs"], ["constraints"])
    inputs = read_domain(table["domain"])
    prior = distribution(table["prior"], len(inputs))
    notions = [Notion(notion, inputs, prior) for notion in sequence(table["privacy"])]
    need(notions, "a notion")
    utility = table["utility"]
    need(isinstance(utility, dict) and isinstance(utility.get("objective"), str), "an objective")
    name = utility["objective"]
    own = "constraints" in table or name not in OBJECTIVES
    if "constraints" in table:
        need(all(text(c) or True for c in sequence(table["constraints"])), "constraints")
        need(table["constraints"], "constraints")
    outputs = None if table["outputs"] is None else labels(table["outputs"])
    worst, f, losses, terms = False, None, None, None
    if name in LOSSES | RISKS | {READ}:
        more = {"distortion": ["matrix"], READ: ["values"]}.get(name, [])
        keys(utility, ["objective", "worst_case", *more])
        if name == READ:
            f = tuple(fraction(v, signed=True) for v in sequence(utility["values"], len(inputs)))
        need(isinstance(utility["worst_case"], bool), "worst_case")
        worst = utility["worst_case"]
    elif name == "posterior-mean-squared-error":
        if "histogram" in utility:
            keys(utility, ["objective", "histogram"])
            need(utility["histogram"] is True, "histogram")
        else:
            keys(utility, ["objective", "values"])
            f = tuple(fraction(v, signed=True) for v in sequence(utility["values"], len(inputs)))
    elif name in PURPOSES:
        terms = read_terms(utility, prior)
        if name == SCORES and len(terms) == 1:
            f = terms[0]
    elif name in OBJECTIVES:
        keys(utility, ["objective"])
    else:
        text(keys(utility, ["objective"], ["expression"]).get("expression", ""))
        text(name)
    if name in LOSSES:
        need(outputs is not None, "outputs")
        losses = costs(utility, inputs, outputs or [])
    return Problem(inputs, prior, notions, name, worst, f, outputs, losses, terms), own


def read_channel(stated: Any, inputs: Inputs, bare: bool = False) -> tuple[list[Vector], list[Any]]:
    """Return the exact columns and the outputs."""
    must = ["inputs", "outputs", "matrix", "bits", "numerators"]
    table = keys(stated, must, [] if bare else ["decoder", "readings"])
    need([label(x) for x in sequence(table["inputs"])] == inputs.labels, "the inputs")
    outputs, bits = labels(table["outputs"]), table["bits"]
    need(type(bits) is int and 1 <= bits <= 4096, "bits")
    rows = [
        [whole(entry) for entry in sequence(row, len(outputs))]
        for row in sequence(table["numerators"], len(inputs))
    ]
    need(
        min(map(min, rows)) >= 0 and {sum(row) for row in rows} == {1 << bits}, "rows that sum to 1"
    )
    exact = [[Fraction(entry, 1 << bits) for entry in row] for row in rows]
    floats = [sequence(row, len(outputs)) for row in sequence(table["matrix"], len(inputs))]
    for stated_row, row in zip(floats, exact, strict=True):
        need(
            all(close(s, exactly(e)) for s, e in zip(stated_row, row, strict=True)),
            "the matrix",
        )
    return list(zip(*exact, strict=True)), outputs


def read_readings(channel: dict[str, Any], m: int) -> Vector:
    """Return the exact readings, whose floats are the decoder."""
    table = keys(channel.get("readings"), ["numerators", "denominator"])
    bottom = whole(table["denominator"])
    need(bottom > 0, "a denominator")
    tops = [
        -whole(t[1:]) if text(t).startswith("-") else whole(t)
        for t in sequence(table["numerators"], m)
    ]
    v = tuple(Fraction(top, bottom) for top in tops)
    off = max(max(map(abs, v)) / 10**12, LEAST_DOUBLE)
    stated = sequence(channel.get("decoder"), m)
    need(all(abs(number(e) - a) <= off for e, a in zip(stated, v, strict=True)), "the readings")
    return v


def outputs_among(outputs: list[Any], allowed: list[Any] | None) -> list[int]:
    if allowed is None:
        return []
    need(set(outputs) <= set(allowed), "outputs that are allowed")
    return [allowed.index(y) for y in outputs]


def check_privacy(stated: Any, problem: Problem, columns: list[Vector]) -> None:
    for stated_claim, notion in zip(
        sequence(stated, len(problem.notions)), problem.notions, strict=True
    ):
        must = ["notion", "leakage", "certified"]
        must += ["epsilon"] if notion.has_epsilon else []
        must += ["delta"] if "delta" in notion.table else []
        must += ["secret"] if notion.secret else []
        table = keys(stated_claim, must)
        need(table["notion"] == notion.name and table["certified"] is True, "the notion")
        for key in {"epsilon", "delta"} & set(must):
            need(float(table[key]) == float(fraction(notion.table[key])), key)
        if notion.secret:
            told, values = sequence(table["secret"]), notion.table["secret"]["values"]
            need([*map(label, told)] == [*map(label, values)], "the secret")
        need(notion.holds(columns, notion.epsilon), f"not private: {notion.name}")
        leaks(notion, columns, table["leakage"])


def check_decoder(
    stated: Any, problem: Problem, columns: list[Vector], certificate: Any
) -> list[Vector]:
    """Check what the aggregator reads from each output; return an estimator."""
    name, p = problem.objective, problem.prior
    if name in LOSSES | PURPOSES | {"mutual-information"}:
        need(stated is None, "no decoder")
        return []
    entries = sequence(stated, len(columns))
    if name == READ:
        return []
    if name in RISKS:
        dual = certificate.get("dual")
        if problem.worst:
            uniform = (Fraction(1, problem.k),) * problem.k
            has_prior = isinstance(dual, dict) and "prior" in dual
            p = distribution(dual["prior"], problem.k) if has_prior else uniform
        W = estimator(columns, p)
        for entry, w in zip(entries, W, strict=True):
            size = max(map(abs, w))
            pairs = zip(sequence(entry, problem.k), w, strict=True)
            off = max(size / 10**12, LEAST_DOUBLE)
            need(all(abs(number(e) - v) <= off for e, v in pairs), "the estimator")
        return W
    for entry, q in zip(entries, columns, strict=True):
        law = dot(p, q)
        weighed = [a * b for a, b in zip(p, q, strict=True)]
        if name == "bayes-accuracy":
            at = problem.inputs.at(entry)
            need(at == weighed.index(max(weighed)), "the first of the likeliest inputs")
        elif problem.f is None:
            posterior = [w / law if law else v for w, v in zip(weighed, p, strict=True)]
            pairs = zip(sequence(entry, problem.k), posterior, strict=True)
            need(all(close(e, exactly(v)) for e, v in pairs), "the posterior")
        else:
            mean = dot(tuple(weighed), problem.f) / law if law else dot(p, problem.f)
            need(close(entry, exactly(mean)), "the posterior mean")
    return []


# --- mechanisms ---------------------------------------------------------------------------------


def check_mechanism(document: dict[str, Any]) -> None:
    text(document.get("source"))
    must = [
        "format",
        "version",
        "mechanism",
        "source",
        "domain",
        "privacy",
        "leakage",
        "law",
        "digest",
    ]
    keys(document, must)
    inputs = read_domain(document["domain"])
    k, kind = len(inputs), document["mechanism"]
    notions = {"by-component": "block", "high-low": "high-low", "lip-randomized-response": "lip"}
    notions |= dict.fromkeys(NOISE, "metric")
    uniform = (Fraction(1, k),) * k
    law = document["law"]
    p = uniform
    if kind == "lip-randomized-response":
        need(isinstance(law, dict), "a law")
        p = distribution(law.get("prior"), k)
        need(min(p) > 0, "a prior above 0")
    notion = Notion(document["privacy"], inputs, p)
    need(isinstance(kind, str) and notion.name == notions.get(kind, "ldp"), "the notion")
    need(not notion.secret, "a notion of the inputs")
    if kind == "by-component":
        member = [[z for z in range(k) if z == x or (x, z) in notion.pairs] for x in range(k)]
        blocks = [list(b) for b in dict.fromkeys(map(tuple, member))]
        if "blocks" in notion.table:
            blocks = [[inputs.at(x) for x in b] for b in notion.table["blocks"]]
        rows = by_component(law, blocks)
    elif kind == "high-low":
        rows = high_low(law, [inputs.at(x) for x in notion.table["sensitive"]], k)
    elif kind in NOISE:
        rows = noise(kind, law, inputs, notion)
    else:
        rows = matrix_of(kind, law, k)
    columns = list(zip(*rows, strict=True))
    need(all(sum(row) == 1 for row in rows) and min(map(min, rows)) >= 0, "rows that sum to 1")
    need(notion.holds(columns, notion.epsilon), "not private")
    leaks(notion, columns, document["leakage"], SHARES.get(kind, ZERO))
    if "remap" in law:  # of the law without it: the claim is for that
        table = [whole(y) for y in sequence(law["remap"], k)]
        need(max(table) < k, "points to report")


NOISE = {"geometric-noise": "manhattan", "planar-laplace": "euclidean"}
SHARES = dict.fromkeys(NOISE, Fraction(1, 10**6))


def noise(kind: str, law: Any, inputs: Inputs, notion: Notion) -> list[list[Fraction]]:
    """Write out the probabilities of noise on a torus, each point reported as the nearest input."""
    table = keys(law, ["margins", "weights"], ["remap"])
    need(inputs.given is None, "noise on a grid or a line")
    places = [p if len(p) == 2 else (ZERO, *p) for p in inputs.points(inputs.labels)]
    sides = inputs.shape or (1, len(inputs))
    step = inputs.spacing if inputs.shape else places[1][1] - places[0][1]
    need(step > 0, "numbers in rising order")
    corner = [min(p[i] for p in places) for i in (0, 1)]
    spots = [tuple(int((p[i] - corner[i]) / step) for i in (0, 1)) for p in places]
    listed = [(r, c) for r in range(sides[0]) for c in range(sides[1])]
    need(spots == listed, "equal steps")
    back = [tuple(corner[i] + step * s[i] for i in (0, 1)) for s in spots]
    need(back == [tuple(p) for p in places], "equal steps")
    known = ["absolute", *NOISE.values()] if inputs.shape is None else [NOISE[kind]]
    need(notion.table["distance"] in known, "the distance of the noise")
    margins = [whole(m) for m in sequence(table["margins"], 2)]
    need(all(m == 0 or n > 2 for m, n in zip(margins, sides, strict=True)), "margins")
    torus = [n + 2 * m for n, m in zip(sides, margins, strict=True)]
    if math.prod(torus) > 4000:
        raise Unable("a large torus")

    def size(a: int, b: int) -> int:
        near = [min(abs(v) % N, N - abs(v) % N) for v, N in zip((a, b), torus, strict=True)]
        return sum(v * v for v in near) if kind == "planar-laplace" else sum(near)

    around = [(r - margins[0], c - margins[1]) for r in range(torus[0]) for c in range(torus[1])]
    sizes = sorted({size(*a) for a in around})
    weights = [whole(w) for w in sequence(table["weights"])]
    need(2 <= len(weights) <= len(sizes) and min(weights) > 0, "weights")
    weights += weights[-1:] * (len(sizes) - len(weights))
    weight_of = dict(zip(sizes, weights, strict=True))
    rows = []
    for x in listed:
        row = [0] * len(listed)
        for z in around:
            nearest = [min(max(v, 0), n - 1) for v, n in zip(z, sides, strict=True)]
            row[nearest[0] * sides[1] + nearest[1]] += weight_of[size(z[0] - x[0], z[1] - x[1])]
        rows.append([Fraction(mass, BITS_OF_LAWS) for mass in row])
    return rows


def small(size: int) -> int:
    if size > 4096:
        raise Unable("too many reports to write out")
    return size


def matrix_of(kind: Any, law: Any, k: int) -> list[list[Fraction]]:
    """Write out the probability of each report at each input."""
    W = BITS_OF_LAWS
    if kind == "in-clear":
        keys(law, [])
        need(k == 1, "one input")
        return [[ONE]]
    if kind == "randomized-response":
        own, other = (
            Fraction(whole(keys(law, ["own", "other"])[key]), W) for key in ("own", "other")
        )
        return [[own if y == x else other for y in range(k)] for x in range(k)]
    if kind == "hadamard-response":
        table = keys(law, ["size", "held"], ["copies"])
        size, held = small(whole(table["size"])), Fraction(whole(table["held"]), W)
        copies = whole(table.get("copies", "1"))
        need(0 < copies <= size and size % copies == 0, "blocks")
        block = size // copies
        need(block * copies >= k + copies and block & (block - 1) == 0, "a power of two above")
        ends = 2 * held / block, 2 * (1 - held) / (block * (2 * copies - 1))
        return [
            [
                ends[y // block != x % copies or (y % block & (x // copies + 1)).bit_count() % 2]
                for y in range(size)
            ]
            for x in range(k)
        ]
    if kind == "projective-geometry-response":
        table = keys(law, ["field", "dimension", "held"])
        q, t, held = whole(table["field"]), whole(table["dimension"]), whole(table["held"])
        need(1 < q < 70 and all(q % n for n in range(2, q)), "a prime")
        need(1 < t < 12, "a dimension")
        small(q ** (t - 1))
        vectors = [v for v in itertools.product(range(q), repeat=t) if any(v)]
        points = [v for v in vectors if next(filter(None, v)) == 1]
        need(k <= len(points), "points enough")
        zero = [
            [sum(a * b for a, b in zip(x, y, strict=True)) % q == 0 for y in points]
            for x in points[:k]
        ]
        on, off = Fraction(held, W), 1 - Fraction(held, W)
        return [[on / sum(row) if hit else off / row.count(False) for hit in row] for row in zero]
    if kind in ("optimized-unary-encoding", "symmetric-unary-encoding"):
        table = keys(law, ["held", "others", "digits"])
        digits = whole(table["digits"])
        need(0 <= digits < 2000, "digits")
        held, others = (
            Fraction(whole(table["held"]), W),
            Fraction(whole(table["others"]), 1 << digits),
        )
        need(0 <= held <= 1 and 0 <= others <= 1, "probabilities")
        reports = list(itertools.product((0, 1), repeat=int(math.log2(small(1 << min(k, 13))))))
        return [
            [
                math.prod(
                    (p if bit else 1 - p)
                    for z, bit in enumerate(report)
                    for p in [held if z == x else others]
                )
                for report in reports
            ]
            for x in range(k)
        ]
    if kind == "subset-selection":
        table = keys(law, ["size", "held"])
        j, held = whole(table["size"]), Fraction(whole(table["held"]), W)
        need(0 < j < k, "the size of the subsets")
        small(math.comb(k, j))
        with_x, without = held / math.comb(k - 1, j - 1), (1 - held) / math.comb(k - 1, j)
        subsets = list(itertools.combinations(range(k), j))
        return [[with_x if x in s else without for s in subsets] for x in range(k)]
    need(kind == "lip-randomized-response", "a mechanism")
    table = keys(law, ["prior", "truth", "fresh"])
    truth = Fraction(whole(table["truth"]), W)
    fresh = [Fraction(whole(f), W) for f in sequence(table["fresh"], k)]
    need(min([truth, *fresh]) >= 0, "probabilities")
    return [[fresh[y] + (truth if x == y else ZERO) for y in range(k)] for x in range(k)]


def part_of(stated: Any, k: int) -> list[list[Fraction]]:
    """Write out a part, and check that it keeps the budget that it states."""
    table = keys(stated, ["mechanism", "epsilon", "law"])
    need(
        table["mechanism"] not in ("by-component", "high-low", "lip-randomized-response"), "a part"
    )
    epsilon = fraction(table["epsilon"])
    rows = matrix_of(table["mechanism"], table["law"], k)
    inputs = Inputs([Fraction(x) for x in range(k)], ONE, None)
    notion = Notion({"notion": "ldp", "epsilon": table["epsilon"]}, inputs, (Fraction(1, k),) * k)
    need(min(map(min, rows)) >= 0, "probabilities")
    need(notion.holds(list(zip(*rows, strict=True)), epsilon), "a part that is not private")
    return rows


def by_component(law: Any, blocks: list[list[int]]) -> list[list[Fraction]]:
    table = keys(law, ["parts", "part_of_block"])
    parts = sequence(table["parts"])
    chosen = [index(whole(n), len(parts)) for n in sequence(table["part_of_block"], len(blocks))]
    need(set(chosen) == set(range(len(parts))), "parts that are used")
    k = sum(map(len, blocks))
    found: list[list[Fraction]] = [[] for _ in range(k)]
    for n, block in zip(chosen, blocks, strict=True):
        rows = part_of(parts[n], len(block))
        for x in range(k):
            found[x] += rows[block.index(x)] if x in block else [ZERO] * len(rows[0])
    return found


def high_low(law: Any, sensitive: list[int], k: int) -> list[list[Fraction]]:
    table = keys(law, ["inner", "uniform"])
    inner, uniform = (
        part_of(table["inner"], len(sensitive)),
        Fraction(whole(table["uniform"]), BITS_OF_LAWS),
    )
    n = len(inner[0])
    need(0 <= uniform <= 1, "a probability")
    others = [x for x in range(k) if x not in sensitive]
    found = []
    for x in range(k):
        if x in sensitive:
            found.append([*inner[sensitive.index(x)], *[ZERO] * len(others)])
        else:
            found.append([uniform / n] * n + [(1 - uniform) * (z == x) for z in others])
    return found
