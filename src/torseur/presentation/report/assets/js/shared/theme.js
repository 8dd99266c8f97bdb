// Light or dark: as the system says, until a button says otherwise.


/** @param {() => void} repaint */
export function bindTheme(repaint) {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme")?.addEventListener("click", () => {
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
    root.dataset.theme = isDark ? "light" : "dark";
    repaint();
  });
  dark.addEventListener("change", repaint);
}
