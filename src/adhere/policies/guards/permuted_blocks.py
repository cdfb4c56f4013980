"""Permuted blocks of varying lengths: the probability of each arm given the arms allocated so far.

A block contains each of k arms equally often, in random order, and has one of several lengths. No length is ever
drawn. The next arm is drawn with its probability given the arms so far, averaged over the lengths that are still
possible. By the chain rule, sequences of arms have the same distribution as if lengths were drawn and blocks
permuted. There is no hidden length to keep secret, and anyone who knows the arms so far can compute every
probability.

The state contains a weight for each hypothesis that the block began at a certain patient and has a certain length.
Let w be the weight of a hypothesis, L its length, n the number of patients since its start and c_j the number of them
allocated to arm j. Then

    P(arm j) = Σ w · (L/k - c_j) / (L - n)  /  Σ w

After arm j, each weight is multiplied by its own factor in this sum. A hypothesis with a full block passes its weight
to a block that starts with the next patient. Blocks can only start at multiples of the step between lengths, so the
number of hypotheses, and therefore the cost of a patient, does not grow.

An array of zeros is the state before the first patient.
"""

from typing import Any, NamedTuple

from adhere.compilation import Matrix, Number, State, inline, laid_out

VARYING = (2, 3, 4)  # lengths by default, as multiples of the number of arms


class Blocks(State):
    """Weights of hypotheses about the current block, and arms allocated since each possible start of the block."""

    weights = Matrix(rows=lambda rule: rule.n_starts, columns=lambda rule: rule.n_lengths)  # newest start first
    counts = Matrix(rows=lambda rule: rule.n_starts, columns=lambda rule: rule.n_arms)
    n_since = Number()  # patients since the newest possible start


@laid_out(state=Blocks)
class BlockRule(NamedTuple):
    """Rule of blocks with lengths `shortest`, `shortest + step` and so on, each equally likely."""

    n_arms: int
    n_starts: int  # number of possible starts of the current block at any time
    n_lengths: int
    shortest: float
    step: float


def block_lengths(n_arms: int, block: int | None = None) -> tuple[int, ...]:
    """Return the lengths that a block may have: the given one, or by default 2k, 3k and 4k for k arms.

    >>> block_lengths(2), block_lengths(3), block_lengths(2, block=4)
    ((4, 6, 8), (6, 9, 12), (4,))
    """
    return tuple(times * n_arms for times in VARYING) if block is None else (block,)


def predictable_share(n_arms: int, block: int) -> float:
    """Return the share of arms that an observer of all arms can predict with certainty, if all blocks have one
    length.

    The predictable arms are the last run of one arm in each block. With L/k patients per arm in a block of L, a run
    of r ends the block with probability k · C(L/k, r) / C(L, r). Summed over r and divided by L, this gives 1 / (L -
    L/k + 1).

    >>> round(predictable_share(2, 4), 3), round(predictable_share(3, 6), 3)
    (0.333, 0.2)
    """
    return 1.0 / (block - block // n_arms + 1)


def block_rule(n_arms: int, lengths: tuple[int, ...]) -> BlockRule:
    """Return the rule of blocks with lengths from `block_lengths`."""
    step = n_arms if len(lengths) > 1 else lengths[0]
    return BlockRule(n_arms, lengths[-1] // step, len(lengths), float(lengths[0]), float(step))


@inline
def write_block_shares(rule: Any, blocks: Any, out: Any) -> None:
    """Write the probability of each arm for the next patient into `out`."""
    weights, counts, n_since, total = blocks.weights, blocks.counts, blocks.n_since, 0.0
    for arm in range(rule.n_arms):
        out[arm] = 0.0
    for start in range(rule.n_starts):
        for i in range(rule.n_lengths):
            weight = weights[start, i]
            if weight > 0.0:
                length = rule.shortest + i * rule.step
                n_left = length - n_since - start * rule.step
                total += weight
                for arm in range(rule.n_arms):
                    out[arm] += weight * ((length / rule.n_arms - counts[start, arm]) / n_left)
    for arm in range(rule.n_arms):
        out[arm] = out[arm] / total if total > 0.0 else 1.0 / rule.n_arms


@inline
def take_place(rule: Any, blocks: Any, arm: Any) -> None:
    """Change the state of blocks after an arm was allocated.

    If no hypothesis allows the arm, because it was drawn with other probabilities, a new block begins with it.
    """
    weights, counts, n_since, total = blocks.weights, blocks.counts, blocks.n_since, 0.0
    for start in range(rule.n_starts):
        for i in range(rule.n_lengths):
            weight = weights[start, i]
            if weight > 0.0:
                length = rule.shortest + i * rule.step
                n_left = length - n_since - start * rule.step
                weight *= (length / rule.n_arms - counts[start, arm]) / n_left
                weights[start, i] = weight
                total += weight
    if total == 0.0:
        begin_block(rule, blocks)
        total = 1.0
    for start in range(rule.n_starts):
        counts[start, arm] += 1.0
        for i in range(rule.n_lengths):
            weights[start, i] /= total
    blocks.n_since += 1.0
    if blocks.n_since == rule.step:
        move_starts(rule, blocks)


@inline
def begin_block(rule: Any, blocks: Any) -> None:
    """Start a block with the next patient, with certainty."""
    blocks.n_since = 0.0
    for start in range(rule.n_starts):
        for i in range(rule.n_lengths):
            blocks.weights[start, i] = 1.0 / rule.n_lengths if start == 0 else 0.0
        for arm in range(rule.n_arms):
            blocks.counts[start, arm] = 0.0


@inline
def move_starts(rule: Any, blocks: Any) -> None:
    """Add the next patient as a possible start of the current block, and drop the oldest start.

    The new start gets the weight of all hypotheses whose block is full, in equal parts for each length.
    """
    full = 0.0
    for start in range(rule.n_starts):
        for i in range(rule.n_lengths):
            if rule.shortest + i * rule.step == (start + 1) * rule.step:
                full += blocks.weights[start, i]
                blocks.weights[start, i] = 0.0
    for back in range(1, rule.n_starts):
        start = rule.n_starts - back
        for i in range(rule.n_lengths):
            blocks.weights[start, i] = blocks.weights[start - 1, i]
        for arm in range(rule.n_arms):
            blocks.counts[start, arm] = blocks.counts[start - 1, arm]
    blocks.n_since = 0.0
    for i in range(rule.n_lengths):
        blocks.weights[0, i] = full / rule.n_lengths
    for arm in range(rule.n_arms):
        blocks.counts[0, arm] = 0.0


@inline
def arm_by_shares(u: float, shares: Any, n_arms: int) -> int:
    """Return the first arm at which the cumulative share exceeds `u`; an arm with share 0 is never drawn."""
    total, arm = 0.0, -1
    for other in range(n_arms):
        if shares[other] > 0.0 and (arm < 0 or u >= total):
            arm = other
        total += shares[other]
    return arm
