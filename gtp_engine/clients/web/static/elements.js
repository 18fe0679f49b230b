// Elements of the page.
export const find = (selector) => document.querySelector(selector);

export function button(said, onClick) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = said;
  element.addEventListener("click", onClick);
  return element;
}

// Calls `onPoint` when the user points at an element, with the mouse or the keyboard, and `onLeave` when no longer.
export function onPointing(element, onPoint, onLeave) {
  for (const event of ["focus", "pointerenter"]) element.addEventListener(event, onPoint);
  for (const event of ["blur", "pointerleave"]) element.addEventListener(event, onLeave);
}

// Has this browser remember the state of a checkbox; calls `onChange` when the user has changed it.
export function remember(checkbox, name, onChange) {
  try { checkbox.checked = (localStorage.getItem(name) ?? (checkbox.checked ? "on" : "off")) === "on"; } catch { /* private windows may have no storage */ }
  checkbox.addEventListener("change", () => {
    try { localStorage.setItem(name, checkbox.checked ? "on" : "off"); } catch { /* likewise */ }
    return onChange();
  });
}

// Fills a list anew; what was chosen stays chosen. choices: values, each with what it is called in the present language.
export function fillList(list, choices, usual = "") {
  const chosen = String(list.value || usual);
  list.replaceChildren(...choices.map(([value, said]) => new Option(said, value, false, String(value) === chosen)));
}
