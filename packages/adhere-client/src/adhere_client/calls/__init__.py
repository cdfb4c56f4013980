"""Every call of the service, described once; `Client` and `AsyncClient` carry them out."""

from __future__ import annotations

from adhere_client.calls.designs import check_design as check_design
from adhere_client.calls.designs import create_trial as create_trial
from adhere_client.calls.designs import create_trial_from as create_trial_from
from adhere_client.calls.designs import policies as policies
from adhere_client.calls.log import accesses as accesses
from adhere_client.calls.log import derive_again as derive_again
from adhere_client.calls.log import records as records
from adhere_client.calls.log import verify as verify
from adhere_client.calls.recommendations import alike as alike
from adhere_client.calls.recommendations import correct as correct
from adhere_client.calls.recommendations import erase as erase
from adhere_client.calls.recommendations import mark_in_error as mark_in_error
from adhere_client.calls.recommendations import recommend as recommend
from adhere_client.calls.recommendations import recommendation as recommendation
from adhere_client.calls.recommendations import recommendations as recommendations
from adhere_client.calls.recommendations import report as report
from adhere_client.calls.recommendations import unblind as unblind
from adhere_client.calls.recommendations import waiting as waiting
from adhere_client.calls.recommendations import withdraw as withdraw
from adhere_client.calls.results import analysis as analysis
from adhere_client.calls.results import export as export
from adhere_client.calls.results import monitor as monitor
from adhere_client.calls.results import results as results
from adhere_client.calls.simulations import explore as explore
from adhere_client.calls.simulations import simulation as simulation
from adhere_client.calls.simulations import simulation_report as simulation_report
from adhere_client.calls.simulations import simulations as simulations
from adhere_client.calls.simulations import start_simulation as start_simulation
from adhere_client.calls.simulations import stop_simulation as stop_simulation
from adhere_client.calls.tokens import make_link as make_link
from adhere_client.calls.tokens import make_token as make_token
from adhere_client.calls.tokens import revoke_token as revoke_token
from adhere_client.calls.tokens import rotate_token as rotate_token
from adhere_client.calls.tokens import tokens as tokens
from adhere_client.calls.trials import end_trial as end_trial
from adhere_client.calls.trials import enrolment as enrolment
from adhere_client.calls.trials import list_trials as list_trials
from adhere_client.calls.trials import looks as looks
from adhere_client.calls.trials import pause as pause
from adhere_client.calls.trials import resume as resume
from adhere_client.calls.trials import reveal as reveal
from adhere_client.calls.trials import sites as sites
from adhere_client.calls.trials import trial as trial
from adhere_client.calls.trials import trials as trials
