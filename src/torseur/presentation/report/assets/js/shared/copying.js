// Buttons that copy texts.
import { all, make } from "./elements.js";

/** @param {Record<string, string>} copies texts by the name that a button has @param {ParentNode} [root] */
export function bindCopying(copies, root = document) {
  all(root, "[data-copy]").forEach((button) => button.addEventListener("click", async (event) => {
    event.preventDefault();
    await copyText(copies[button.dataset.copy ?? ""]);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1400);
  }));
}

/** The clipboard may be closed to pages opened from a file: then a selection and the old command do. @param {string} text */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
