"""What each operating characteristic is, in a sentence: the words of pages, tables and docs/design.md."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "type_one": "Probability of claiming a difference where there is none: about any arm (family-wise), or about "
        "one. With a control an arm is claimed to differ from it if it ends superior or inferior; without one it is "
        "claimed to be better than all others if it ends superior (of two arms also if the other ends inferior). "
        "Differences are of intention-to-treat.",
        "power": "Probability of a claim in the direction of the true difference: about any arm that differs from "
        "the control (without one: about the one best arm), or about one arm.",
        "wrong_claim": "Probability of a claim in the direction opposite to the true difference: about any arm, or "
        "one.",
        "superior": "Probability that the trial stops because an arm is superior; of an arm, that it ends superior.",
        "inferior": "Probability that the trial stops because the last arm beside the control is inferior; of an "
        "arm, that it is dropped as inferior.",
        "equivalent": "Probability that the trial stops for equivalence; of an arm, that it ends equivalent.",
        "futile": "Probability that the trial stops for futility; of an arm, that it is dropped as futile.",
        "inconclusive": "Probability that the trial runs to its end without a conclusion; of an arm, that it ends "
        "without a status.",
        "select_best": "Probability that the arm the trial leaves behind is the best to recommend, or one of the "
        "best. It is the arm found superior; where none was, the control, or without one, of the arms not dropped, "
        "the one with the highest mean outcome.",
        "selected": "Probability that the trial leaves this arm behind.",
        "sample_size": "Mean number of patients recommended an arm.",
        "sample_size_sd": "Standard deviation of that number over trials.",
        "sample_size_q05": "The number that 5% of trials do not exceed.",
        "sample_size_q25": "The number that 25% of trials do not exceed.",
        "sample_size_q50": "The number that half of the trials do not exceed.",
        "sample_size_q75": "The number that 75% of trials do not exceed.",
        "sample_size_q95": "The number that 95% of trials do not exceed.",
        "duration": "Mean number of days from the first patient to the last look.",
        "duration_sd": "Standard deviation of the duration over trials.",
        "duration_q05": "The duration that 5% of trials do not exceed.",
        "duration_q25": "The duration that 25% of trials do not exceed.",
        "duration_q50": "The duration that half of the trials do not exceed.",
        "duration_q75": "The duration that 75% of trials do not exceed.",
        "duration_q95": "The duration that 95% of trials do not exceed.",
        "n_looks": "Mean number of looks.",
        "n_recommended": "Mean number of patients recommended the arm.",
        "allocation": "Share of a trial's patients recommended the arm, its mean over trials.",
        "taken": "Share of a trial's patients who took the arm, its mean over trials.",
        "recommended_inferior": "Share of a trial's patients recommended an arm that is not among the best to "
        "recommend, its mean over trials.",
        "took_inferior": "Share of a trial's patients who took an arm that is not among the best to take (by the "
        "mean outcome if everybody took it), its mean over trials.",
        "outcome": "Mean outcome of a trial's patients, its mean over trials.",
        "surplus": "Expected sum of outcomes given the arms recommended, minus that of the same number of patients "
        "randomised in equal shares.",
        "surplus_q05": "The surplus that 5% of trials do not exceed.",
        "realised_surplus": "Sum of outcomes, minus the mean over arms of what the same patients would have had.",
        "worse_than_randomisation": "Probability that a trial's surplus is below 0, by more than a permuted "
        "block cut short at the end can explain (one block in each stratum).",
        "ideal_recommending": "Ideal design percentage: how much of the way from the worst to the best arm the arm "
        "left behind is, by the mean outcome if it is recommended.",
        "ideal_treating": "The same by the mean outcome if everybody took the arm.",
        "estimable": "Share of trials that have the estimate.",
        "bias": "Mean of estimate minus true effect, over the trials that have the estimate.",
        "rmse": "Root of the mean squared difference between estimate and true effect, over the same trials.",
        "coverage": "Probability that the 95% interval has the true effect, over the trials that have an interval; "
        "of an any-time valid one, that it has it after every decision.",
        "interval_error": "Probability that the 95% interval leaves out 0 where there is no effect: for "
        "intention-to-treat under either null, for compliers under the sharp null only.",
    }
)
