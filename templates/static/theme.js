"use strict";
// Before the first paint: the colours that the reader chose on an earlier visit.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* storage is blocked: the system decides */ }
document.documentElement.classList.add("js");
