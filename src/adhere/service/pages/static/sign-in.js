// The secret of a one-time link is in the address's fragment, which browsers send to nobody. It is moved into the form and
// out of the address bar at once. Nothing is sent before somebody presses the button: a preview may run scripts too.
"use strict";
(() => {
  const form = document.getElementById("sign-in");
  function take() {
    const secret = new URLSearchParams(location.hash.slice(1)).get("link");
    if (!secret) return;
    history.replaceState(null, "", location.pathname + location.search);
    form.elements.link.value = secret;
    form.elements.token.disabled = true; // or an empty field would keep the form from being sent
    document.getElementById("by-code").hidden = true;
    document.getElementById("by-link").hidden = false;
  }
  addEventListener("hashchange", take); // a link that is opened where this page is open already
  take();
})();
