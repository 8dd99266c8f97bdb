// Elements of the page, found and made. What must be there is there, with the type that its user expects, or an error says so.

/** A class of elements, such as HTMLInputElement. @template E @typedef {{ new (): E, prototype: E }} Kind */

/**
 * The element with an identifier.
 * @template {Element} [E=HTMLElement]
 * @param {string} id
 * @param {Kind<E>} [kind]
 * @returns {E}
 */
export function byId(id, kind) { return expect(document.getElementById(id), `#${id}`, kind); }

/**
 * The first element below a root that a selector finds.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {Kind<E>} [kind]
 * @returns {E}
 */
export function first(root, selector, kind) { return expect(root.querySelector(selector), selector, kind); }

/**
 * All elements below a root that a selector finds; `E` is what the selector promises.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {Kind<E>} [_] says the type to the checker
 * @returns {E[]}
 */
export function all(root, selector, _) { return [.../** @type {NodeListOf<E>} */ (root.querySelectorAll(selector))]; }

/**
 * The element that an event of the page happened at.
 * @param {Event} event
 * @returns {Element}
 */
export const targetOf = (event) => /** @type {Element} */ (event.target);

/**
 * A new element with properties and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Partial<HTMLElementTagNameMap[K]>} [properties]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/**
 * @template {Element} E
 * @param {Element | null} element
 * @param {string} name
 * @param {Kind<E>} [kind]
 * @returns {E}
 */
function expect(element, name, kind) {
  if (!element || (kind && !(element instanceof kind))) throw new Error(`the page has no ${kind?.name ?? "element"} ${name}`);
  return /** @type {E} */ (element);
}
