// A link is used by this click: previews of links load the page, but run no scripts. Who is signed in clicks it themselves,
// or anybody could send them a link by which they would work under another name.
"use strict";
document.getElementById("use-link").click();
