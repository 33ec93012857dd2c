"""The convex program of a problem as LaTeX, from its kernel statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from mechdesign.exact import fraction_text
from mechdesign.kernel.gains import Entropy, Gain, Squares
from mechdesign.kernel.generators import Cone, Constant, Latent, Lift, Listed, Ratio
from mechdesign.kernel.limits import Information, Limit
from mechdesign.kernel.objectives import Loss, Reading, Risk
from mechdesign.kernel.statement import Statement

MOST_ENTRIES = 8
"""The largest number of entries of a vector to write out."""

COLUMN = r"Q(y|x)"


def program_latex(statement: Statement) -> str:
    """Return the objective, the rows of the notions, and the constraints of a channel."""
    maximized = statement.sign < 0
    goal = rf"\operatorname{{{'maximize' if maximized else 'minimize'}}}_Q"
    lines = [rf"{goal}\quad & {_objective(statement)} \\"]
    head = r"\text{subject to}\quad"
    stated = [text for part in statement.cone for text in _rows(part, COLUMN)]
    limits = [_limit(part) for part in statement.limits]
    for text in dict.fromkeys(limits):
        n = limits.count(text)
        stated.append(text + rf" \quad \text{{({n} such sums)}}" * (n > 1))
    objective = statement.objective
    if isinstance(objective, Reading):
        values = _vector(objective.values)
        stated.append(rf"\textstyle\sum_y v_y {COLUMN} = f_x, \quad f = {values}")
    for text in [*stated, rf"\textstyle\sum_y {COLUMN} = 1, \quad {COLUMN} \ge 0"]:
        lines.append(rf"{head} & {text} \\")
        head = ""
    body = "\n".join(line.strip() for line in lines).removesuffix(r" \\")
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _objective(statement: Statement) -> str:
    """Return the objective; for a gain, the sum without the sign of the kernel."""
    objective, maximized = statement.objective, statement.sign < 0
    if isinstance(objective, Loss):
        weights = objective.weights
        if objective.free:
            best, cost = (r"\max_z", "G") if maximized else (r"\min_z", "D")
            return rf"\textstyle\sum_y {best} \sum_x {_weighted(weights)} {cost}(x, z)\, {COLUMN}"
        if weights is None:
            return rf"\max_x \textstyle\sum_y D(x, y)\, {COLUMN}"
        return rf"\textstyle\sum_{{x, y}} {_weighted(weights)} D(x, y)\, {COLUMN}"
    if isinstance(objective, Gain):
        total = rf"\textstyle\sum_y {_gain(objective)}"
        return total if maximized else rf"{_number(objective.constant)} - {total}"
    if isinstance(objective, Risk):
        inner = r"(M^{-1})_{xx} - p_x^2"
        term = rf"\sum_x {inner}"
        if objective.roots:
            term = rf"\tfrac{{1}}{{\sqrt{{2\pi}}}} \sum_x \sqrt{{{inner}}}"
        over = r"\max_p\," if objective.prior is None else ""
        where = r"\quad M = \sum_y \frac{q_y q_y^\top}{p^\top q_y}"
        return rf"{over} {term}, {where}{_where('p', objective.prior)}"
    if isinstance(objective, Reading):
        if objective.weights is None:
            return rf"\max_x \textstyle\sum_y v_y^2 {COLUMN} - f_x^2"
        return rf"\textstyle\sum_x {_weighted(objective.weights)} (\sum_y v_y^2 {COLUMN} - f_x^2)"
    return r"f(Q)"


def _gain(objective: Gain) -> str:
    """Return the gain of a column q_y."""
    if isinstance(objective, Entropy):
        return r"\sum_j v_j^\top q_y \ln \frac{v_j^\top q_y}{m_j\, P^\top q_y}"
    if isinstance(objective, Squares):
        weight = "" if objective.weights is None else "b_j "
        return rf"\sum_j {weight}\frac{{(v_j^\top q_y)^2}}{{P^\top q_y}}"
    return r"\tfrac12 \bigl(\sqrt{a^\top q_y} - \sqrt{b^\top q_y}\bigr)^2"


def _rows(part: Cone, entry: str) -> Iterator[str]:
    """Yield the inequalities of a generator on the entries of a column."""
    if isinstance(part, Latent):
        yield r"\tilde Q(y|s) = \textstyle\sum_x M_{sx} Q(y|x)"
        yield from _rows(part.inner, r"\tilde Q(y|x)")
    elif isinstance(part, Ratio):
        exponents, other = part.exponents, entry.replace("|x)", "|x')")
        if isinstance(exponents, Constant):
            power, where = _number(exponents.exponent), r"\text{for all } x, x', y"
            if exponents.block is not None:
                where = r"\text{for all } x, x' \text{ in one block, all } y"
            if exponents.protected is not None:
                where += r", \; x \text{ sensitive}"
        else:
            power, where = "E(x, x')", r"\text{for all } x, x', y"
        first, second = (f"P_x {entry}", f"P_{{x'}} {other}") if part.prior else (entry, other)
        yield rf"{first} \le e^{{{power}}} {second} \quad {where}{_where('P', part.prior)}"
    elif isinstance(part, Lift):
        sole = part.priors.priors[0] if isinstance(part.priors, Listed) else None
        single = isinstance(part.priors, Listed) and len(part.priors.priors) == 1
        below = "" if part.lower is None else rf"e^{{-{_number(part.lower)}}} \lambda_y \le "
        above = "" if part.upper is None else rf" \le e^{{{_number(part.upper)}}} \lambda_y"
        mean = rf"\lambda_y = \textstyle\sum_x P_x {entry}"
        tail = (
            _where("P", sole) if single else r" \quad \text{for every prior } P \text{ of the set}"
        )
        yield rf"{below}{entry}{above} \quad \text{{for all }} x, y, \quad {mean}{tail}"
    else:
        named = rf"i = 1, \dots, {len(part.rows)}, \text{{ all }} y"
        yield rf"l_i^\top q_y \le e^{{a_i}}\, r_i^\top q_y \quad {named}"


def _limit(part: Limit) -> str:
    """Return a limit on the whole channel."""
    if isinstance(part, Information):
        return rf"I(X; Y) \le {_number(part.limit)}{_where('P', part.prior)}"
    factor = rf"e^{{{_number(part.exponent)}}}\, " if part.exponent else ""
    body = r"\textstyle\sum_y \max_j \bigl(e^{-a_j} l_j^\top q_y - r_j^\top q_y\bigr)"
    return rf"{body} \le {factor}{_number(part.limit)}"


def _weighted(weights: Sequence[Fraction] | None) -> str:
    """Return the weight of an input: its number where all are equal, else P_x."""
    equal = weights is not None and len(set(weights)) == 1
    return rf"{_number(weights[0])}\," if weights and equal else "P_x"


def _where(name: str, vector: Sequence[Fraction] | None) -> str:
    return "" if vector is None else rf", \quad {name} = {_vector(vector)}"


def _vector(vector: Sequence[Fraction]) -> str:
    shown = [_number(entry) for entry in vector[:MOST_ENTRIES]]
    more = [r"\dots"] if len(vector) > MOST_ENTRIES else []
    return f"({', '.join([*shown, *more])})"


def _number(number: Fraction) -> str:
    text = fraction_text(number)
    return text if len(text) <= 12 else f"{float(number):.6g}"
