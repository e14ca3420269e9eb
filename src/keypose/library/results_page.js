"use strict";
(() => {
  const hits = [...document.querySelectorAll(".hit")];

  // Arrow keys move between hits while the name of one has the focus.
  const visibleHits = () => hits.filter((hit) => !hit.hidden);
  document.querySelector(".hits")?.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches(".head a")) return;
    const visible = visibleHits();
    const next = visible[visible.indexOf(event.target.closest(".hit")) + step];
    if (!next) return;
    event.preventDefault();
    next.scrollIntoView({ block: "nearest" });
    next.querySelector(".head a").focus();
  });

  // Show only hits whose name and tags contain all typed words.
  const box = document.querySelector(".only");
  if (!box) return;
  const [input, output] = [box.querySelector("input"), box.querySelector("output")];
  const texts = hits.map((hit) =>
    [hit.querySelector(".head a"), ...hit.querySelectorAll(".tags li")].map((part) => part.textContent).join(" ").toLowerCase(),
  );
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    hits.forEach((hit, k) => (hit.hidden = !words.every((word) => texts[k].includes(word))));
    output.textContent = words.length ? `${visibleHits().length} of ${hits.length}` : "";
  });
  box.hidden = false;
})();
