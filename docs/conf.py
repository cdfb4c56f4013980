"""How Sphinx builds the site: `make docs`. Nothing that a reader's browser loads comes from another host."""

import sys
from importlib.metadata import files
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "adhere"
author = "the founders of adhere"
project_copyright = "the founders of adhere; Apache-2.0"
version = release = version_of("adhere")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx.ext.mathjax",
    "reference_pages",
]
exclude_patterns = ["_build", "_ext", "examples", "jupyter_execute"]
templates_path = ["_templates"]
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # of JSON that is shown with … in it
nitpick_ignore_regex = [("py:.*", r".*")]  # types in numpydoc's prose are no links; links in MyST are checked by MyST

# Pages
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "auto"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_cache_path = "_build/.jupyter_cache"
nb_execution_show_tb = True
nb_merge_streams = True

# The Python reference
autosummary_generate = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The theme
html_theme = "pydata_sphinx_theme"
html_title = f"adhere {version}"
_mathjax = next(one.locate() for one in files("sphinx-mathjax-offline") or () if one.name == "tex-svg.js")
html_static_path = ["_static", str(_mathjax)]
mathjax_path = "tex-svg.js"
html_css_files = ["adhere.css"]
html_js_files = ["adhere.js"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
