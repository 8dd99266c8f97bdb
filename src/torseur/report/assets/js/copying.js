// Buttons that copy texts.
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
