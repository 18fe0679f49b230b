// Elements of the page.
export const find = (selector) => document.querySelector(selector);

export function button(said, onClick) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = said;
  element.addEventListener("click", onClick);
  return element;
}

// Returns a new element with these properties and children, elements or texts.
export function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Calls `onPoint` when the user points at an element, with the mouse or the keyboard, and `onLeave` when no longer. What
// comes to lie under a resting pointer, when a list changes or scrolls, is not pointed at.
export function onPointing(element, onPoint, onLeave) {
  for (const event of ["focus", "pointerdown", "pointermove"]) element.addEventListener(event, onPoint);
  for (const event of ["blur", "pointerleave"]) element.addEventListener(event, onLeave);
}

// What this browser remembers, by name; private windows may have no storage.
export function stored(name) {
  try { return localStorage.getItem(`gtp_engine ${name}`); } catch { return null; }
}

export function store(name, value) {
  try { localStorage.setItem(`gtp_engine ${name}`, value); } catch { /* it is forgotten with the page */ }
}

// Has this browser remember the state of a checkbox, or what is chosen in a list; calls `onChange` when the user has
// changed it.
export function remember(element, name, onChange) {
  const isList = element.matches("select"), before = stored(name);
  if (before !== null) Object.assign(element, isList ? {value: before} : {checked: before === "on"});
  element.addEventListener("change", () => {
    store(name, isList ? element.value : element.checked ? "on" : "off");
    return onChange();
  });
}

// Fills a list anew; what was chosen stays chosen. choices: values, each with what it is called in the present language.
export function fillList(list, choices, usual = "") {
  const chosen = String(list.value || usual);
  list.replaceChildren(...choices.map(([value, said]) => new Option(said, value, false, String(value) === chosen)));
}
