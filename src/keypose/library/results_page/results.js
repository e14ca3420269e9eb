"use strict";
(() => {
  const hits = [...document.querySelectorAll(".hit")];

  // Arrows go from hit to hit while the name of one has the focus.
  const shown = () => hits.filter((hit) => !hit.hidden);
  document.querySelector(".hits")?.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches(".head a")) return;
    const some = shown();
    const next = some[some.indexOf(event.target.closest(".hit")) + step];
    if (!next) return;
    event.preventDefault();
    next.scrollIntoView({ block: "nearest" });
    next.querySelector(".head a").focus();
  });

  // Only hits whose name or tags have all the words that are typed.
  const box = document.querySelector(".only");
  if (!box) return;
  const [input, says] = [box.querySelector("input"), box.querySelector("output")];
  const texts = hits.map((hit) =>
    [hit.querySelector(".head a"), ...hit.querySelectorAll(".tags li")].map((part) => part.textContent).join(" ").toLowerCase(),
  );
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    hits.forEach((hit, k) => (hit.hidden = !words.every((word) => texts[k].includes(word))));
    says.textContent = words.length ? `${shown().length} of ${hits.length}` : "";
  });
  box.hidden = false;
})();
