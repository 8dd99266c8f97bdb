// Folding of definitions, and copying of texts.

// Chips unfold an entry each; a term unfolds, or folds, what defines it.
export function bindFolding(root = document) {
  const chips = new Map([...root.querySelectorAll(".chip[aria-controls]")].map((chip) => [chip.getAttribute("aria-controls"), chip]));
  const fold = (id, hidden) => {
    document.getElementById(id).hidden = hidden;
    chips.get(id).setAttribute("aria-expanded", String(!hidden));
  };
  chips.forEach((chip, id) => chip.addEventListener("click", () => fold(id, !document.getElementById(id).hidden)));
  root.querySelectorAll("[data-opens]").forEach((term) => {
    const ids = term.dataset.opens.split(" ");
    const toggle = () => { const all = ids.every((id) => !document.getElementById(id).hidden); ids.forEach((id) => fold(id, all)); };
    term.addEventListener("click", toggle);
    term.addEventListener("keydown", (event) => { if (event.key === "Enter") toggle(); });
  });
}

export function bindCopying(copies, root = document) {
  root.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", async (event) => {
    event.preventDefault();
    await copyText(copies[button.dataset.copy]);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1400);
  }));
}

// The clipboard may be closed to pages opened from a file: then a selection and the old command do.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
