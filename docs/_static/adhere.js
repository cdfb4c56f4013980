// For screen readers and keyboards: the theme leaves the arrows of its menu without a name, and some tables without focus.
document.addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll("details > summary:has(> .toctree-toggle)")) {
    arrow.setAttribute("aria-label", "Show or hide the pages of this part");
  }
  const nameScrolling = () => {
    for (const one of document.querySelectorAll(".bd-article .pst-scrollable-table-container, .bd-article pre")) {
      if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    }
  };
  nameScrolling();
  window.addEventListener("resize", nameScrolling);
});
