// The bench itself: tabs, splitters, type size, menus and dialogs.
/** @import { LibraryEntry } from "../messages.js" */
/** An entry of a menu. @typedef {{ text: string, detail?: string, act: () => void }} Action */
import { all, byId, first, make } from "../../../../report/assets/js/shared/elements.js";
import { memory } from "../conversation/memory.js";

/** @param {HTMLElement} list @param {(id: string) => void} chosen */
export function bindTabs(list, chosen) {
  const tabs = all(list, "[role=tab]");
  /** @param {HTMLElement} tab */
  const choose = (tab) => {
    for (const one of tabs) {
      const here = one === tab;
      one.setAttribute("aria-selected", String(here));
      one.tabIndex = here ? 0 : -1;
      byId(one.getAttribute("aria-controls") ?? "").hidden = !here;
    }
    chosen(tab.id);
  };
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (!way) return;
      const next = tabs[(k + way + tabs.length) % tabs.length];
      choose(next);
      next.focus();
    });
  });
}

/** Splitters set a share of the bench, in percent, by pointer and by arrow keys. @param {HTMLElement} bench */
export function bindSplitters(bench) {
  for (const splitter of all(bench, ".splitter")) new Splitter(splitter, bench);
}

class Splitter {
  /** @param {HTMLElement} element @param {HTMLElement} bench */
  constructor(element, bench) {
    this.element = element;
    this.bench = bench;
    this.name = element.dataset.splits ?? ""; // of the style variable that holds the share
    this.level = element.classList.contains("level");
    const kept = Number(memory.getItem(`share ${this.name}`));
    if (kept) this.set(kept);
    else this.tell();
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      /** @param {PointerEvent} moved */
      const move = (moved) => this.set(this.share(moved));
      element.addEventListener("pointermove", move);
      element.addEventListener("lostpointercapture", () => element.removeEventListener("pointermove", move), { once: true });
    });
    element.addEventListener("keydown", (event) => {
      const [more, less] = this.level ? ["ArrowDown", "ArrowUp"] : this.name === "--results" ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
      const way = event.key === more ? 2 : event.key === less ? -2 : 0;
      if (!way) return;
      event.preventDefault();
      this.set(this.now() + way);
    });
  }

  /** The share that a place of the pointer stands for. @param {PointerEvent} event */
  share({ clientX, clientY }) {
    const box = ((this.level && this.element.parentElement) || this.bench).getBoundingClientRect();
    if (this.level) return (100 * (clientY - box.top)) / box.height;
    return (100 * (this.name === "--results" ? box.right - clientX : clientX - box.left)) / box.width;
  }

  now() { return parseFloat(getComputedStyle(document.documentElement).getPropertyValue(this.name)); }

  /** @param {number} percent */
  set(percent) {
    const share = Math.max(10, Math.min(this.level ? 85 : 60, percent));
    document.documentElement.style.setProperty(this.name, `${share.toFixed(1)}%`);
    memory.setItem(`share ${this.name}`, share.toFixed(1));
    this.tell();
  }

  tell() {
    for (const [key, value] of Object.entries({ valuenow: Math.round(this.now()), valuemin: 10, valuemax: this.level ? 85 : 60 })) {
      this.element.setAttribute(`aria-${key}`, String(value));
    }
  }
}

/** @param {HTMLElement} button */
export function bindType(button) {
  const root = document.documentElement;
  /** @param {boolean} large */
  const set = (large) => {
    root.classList.toggle("large", large);
    button.setAttribute("aria-pressed", String(large));
    memory.setItem("large type", large ? "1" : "");
  };
  set(Boolean(memory.getItem("large type")));
  button.addEventListener("click", () => set(!root.classList.contains("large")));
}

/** A menu of actions under a button. @param {HTMLElement} button @param {HTMLElement} menu @param {Action[]} actions */
export function bindMenu(button, menu, actions) {
  const items = actions.map(({ text, detail, act }) => {
    const item = make("button", { type: "button", textContent: text, tabIndex: -1, onclick: () => { close(); act(); } });
    item.setAttribute("role", "menuitem");
    if (detail) item.append(make("small", { textContent: detail }));
    item.addEventListener("focusout", ({ relatedTarget }) => {
      if (!menu.contains(/** @type {Node | null} */ (relatedTarget)) && relatedTarget !== button) close(false);
    });
    return item;
  });
  menu.replaceChildren(...items);
  const close = (back = true) => {
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
    if (back) button.focus();
  };
  button.onclick = () => {
    if (!menu.hidden) return close();
    menu.hidden = false;
    button.setAttribute("aria-expanded", "true");
    items[0]?.focus();
  };
  menu.onkeydown = (event) => {
    const at = items.findIndex((item) => item === document.activeElement), way = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Escape") close();
    if (!way) return;
    event.preventDefault();
    items[(at + way + items.length) % items.length].focus();
  };
}

/** A list of ready mechanisms to choose from. @param {HTMLElement} button @param {HTMLDialogElement} dialog @param {LibraryEntry[]} entries @param {(use: string) => void} choose */
export function bindShelf(button, dialog, entries, choose) {
  const list = first(dialog, "ul"), seek = first(dialog, "input", HTMLInputElement);
  const rows = entries.map(({ name, use, title }) => {
    const one = make("button", { type: "button", onclick: () => { dialog.close(); choose(use); } }, name, make("small", { textContent: title }));
    one.dataset.entry = name;
    const item = make("li", {}, one);
    return { item, words: `${name} ${title}`.toLowerCase() };
  });
  list.replaceChildren(...rows.map(({ item }) => item));
  seek.oninput = () => rows.forEach(({ item, words }) => { item.hidden = !words.includes(seek.value.trim().toLowerCase()); });
  button.onclick = () => dialog.showModal();
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
}

/** Ask a question; true when the answer is yes. @param {HTMLDialogElement} dialog @param {string} text @param {string} yes @returns {Promise<boolean>} */
export function askUser(dialog, text, yes) {
  first(dialog, "p").textContent = text;
  byId("question-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}
