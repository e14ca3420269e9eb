"use strict";
(() => {
  const root = document.documentElement;
  const button = document.querySelector("button.theme");
  const preferred = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : preferred.matches);
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
  };
  const changed = () => {
    show();
    document.dispatchEvent(new Event("themechange"));
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    changed();
  });
  preferred.addEventListener("change", changed);
  button.hidden = false;
  show();

  // What is wider than the page is scrolled, with the keyboard too.
  const wide = document.querySelectorAll(".wide, pre");
  const measure = () => {
    for (const box of wide) {
      const scrolls = box.scrollWidth > box.clientWidth + 1;
      for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", "scrolls sideways"]]) {
        if (scrolls) box.setAttribute(name, value);
        else box.removeAttribute(name);
      }
    }
  };
  window.addEventListener("resize", measure);
  document.addEventListener("toggle", measure, true);
  measure();
})();
