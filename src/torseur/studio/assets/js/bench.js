// The bench itself: tabs, splitters, type size, menus and dialogs.

export function bindTabs(list, chosen) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const one of tabs) {
      const here = one === tab;
      one.setAttribute("aria-selected", String(here));
      one.tabIndex = here ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = !here;
    }
    chosen(tab.id);
  };
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      const next = tabs[(k + way + tabs.length) % tabs.length];
      choose(next);
      next.focus();
    });
  });
}

// Splitters set a share of the bench, in percent, by pointer and by arrow keys.
export function bindSplitters(bench) {
  for (const splitter of bench.querySelectorAll(".splitter")) new Splitter(splitter, bench);
}

class Splitter {
  constructor(element, bench) {
    Object.assign(this, { element, bench, name: element.dataset.splits, level: element.classList.contains("level") });
    const kept = Number(localStorage.getItem(`share ${this.name}`));
    if (kept) this.set(kept);
    else this.tell();
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      const move = (moved) => this.set(this.share(moved));
      element.addEventListener("pointermove", move);
      element.addEventListener("lostpointercapture", () => element.removeEventListener("pointermove", move), { once: true });
    });
    element.addEventListener("keydown", (event) => {
      const far = this.name === "--results" ? -2 : 2;
      const way = this.level ? { ArrowDown: 2, ArrowUp: -2 }[event.key] : { ArrowRight: far, ArrowLeft: -far }[event.key];
      if (!way) return;
      event.preventDefault();
      this.set(this.now() + way);
    });
  }

  share({ clientX, clientY }) {
    const box = (this.level ? this.element.parentElement : this.bench).getBoundingClientRect();
    if (this.level) return (100 * (clientY - box.top)) / box.height;
    return (100 * (this.name === "--results" ? box.right - clientX : clientX - box.left)) / box.width;
  }

  now() { return parseFloat(getComputedStyle(document.documentElement).getPropertyValue(this.name)); }

  set(percent) {
    const share = Math.max(10, Math.min(this.level ? 85 : 60, percent));
    document.documentElement.style.setProperty(this.name, `${share.toFixed(1)}%`);
    localStorage.setItem(`share ${this.name}`, share.toFixed(1));
    this.tell();
  }

  tell() {
    for (const [key, value] of Object.entries({ valuenow: Math.round(this.now()), valuemin: 10, valuemax: this.level ? 85 : 60 })) {
      this.element.setAttribute(`aria-${key}`, value);
    }
  }
}

export function bindType(button) {
  const root = document.documentElement;
  const set = (large) => {
    root.classList.toggle("large", large);
    button.setAttribute("aria-pressed", String(large));
    localStorage.setItem("large type", large ? "1" : "");
  };
  set(Boolean(localStorage.getItem("large type")));
  button.addEventListener("click", () => set(!root.classList.contains("large")));
}

// A menu of actions {text, detail, act} under a button.
export function bindMenu(button, menu, actions) {
  const items = actions.map(({ text, detail, act }) => {
    const item = Object.assign(document.createElement("button"), { type: "button", textContent: text, tabIndex: -1 });
    item.setAttribute("role", "menuitem");
    if (detail) item.append(Object.assign(document.createElement("small"), { textContent: detail }));
    item.addEventListener("click", () => { close(); act(); });
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
    const at = items.indexOf(document.activeElement), way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") close();
    if (!way) return;
    event.preventDefault();
    items[(at + way + items.length) % items.length].focus();
  };
  menu.onfocusout = ({ relatedTarget }) => { if (!menu.contains(relatedTarget) && relatedTarget !== button) close(false); };
}

// A list of ready mechanisms to choose from.
export function bindShelf(button, dialog, entries, choose) {
  const list = dialog.querySelector("ul"), seek = dialog.querySelector("input");
  const rows = entries.map(({ name, use, title }) => {
    const item = document.createElement("li");
    const one = Object.assign(document.createElement("button"), { type: "button", textContent: name });
    one.dataset.entry = name;
    one.append(Object.assign(document.createElement("small"), { textContent: title }));
    one.addEventListener("click", () => { dialog.close(); choose(use); });
    item.append(one);
    return { item, words: `${name} ${title}`.toLowerCase() };
  });
  list.replaceChildren(...rows.map(({ item }) => item));
  seek.oninput = () => rows.forEach(({ item, words }) => { item.hidden = !words.includes(seek.value.trim().toLowerCase()); });
  button.onclick = () => dialog.showModal();
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
}

// Ask a question; true when the answer is yes.
export function askUser(dialog, text, yes) {
  dialog.querySelector("p").textContent = text;
  dialog.querySelector("#question-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}
