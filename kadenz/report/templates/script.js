// SPDX-License-Identifier: Apache-2.0
"use strict";
// Optional: the page is readable without it. Shows a mark's tooltip at once, on hover or touch, and
// opens all sections for printing.
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const show = (event) => {
    const mark = event.target.closest && event.target.closest(".plot .hit, .plot .mark, .plot .cold");
    const title = mark && mark.querySelector("title");
    const words = title ? title.textContent : mark && mark.dataset.words;
    tip.hidden = !words;
    if (!words) return;
    if (title) { // else the browser shows its own tooltip too
      mark.dataset.words = words;
      mark.setAttribute("aria-label", words);
      title.remove();
    }
    tip.textContent = words;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (below ? event.clientY + 18 : event.clientY - 14 - tip.offsetHeight) + "px";
  };
  for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
})();
