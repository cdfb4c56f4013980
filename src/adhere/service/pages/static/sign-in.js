// A link is used by this click: previews of links load the page, but run no scripts.
"use strict";
document.getElementById("use-link").click();
