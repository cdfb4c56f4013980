// A file from disk is shown as text before anything is sent.
"use strict";
for (const input of document.querySelectorAll("input[type=file][data-into]"))
  input.addEventListener("change", async () => {
    if (input.files.length) document.getElementById(input.dataset.into).value = await input.files[0].text();
  });
