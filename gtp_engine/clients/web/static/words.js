// The page's texts: one file for each language, with the same names, which gtp_engine/base/languages/texts.py reads too.
import {store, stored} from "./elements.js";

const STORED = "language", DEFAULT = "en";

let words = {};
let language = "en";

// Around each value in a language written from right to left, as texts.py does: a vertex or a percentage then neither
// changes the order of the words around it nor is changed by it (first strong isolate, pop directional isolate).
const ISOLATE = "\u2068", POP = "\u2069";

// Returns a text with its values put in, such as text("toMove", {colour: "Black"}). One with plural forms has a form for
// the number `count`. A value may be a text with values itself: {name, values}; whole numbers get separators.
export function text(name, values = {}) {
  let found = words[name];
  if (found === undefined) throw new Error(`no text ${name}`);
  if (typeof found === "object") found = found[new Intl.PluralRules(language).select(values.count)] ?? found.other;
  return found.replace(/\{(\w+)\}/g, (_, key) => {
    const value = written(values[key]);
    return words.about.direction === "rtl" ? ISOLATE + value + POP : value;
  });
}

function written(value) {
  if (value?.name) return text(value.name, value.values);
  return Number.isInteger(value) ? number(value) : value;
}

// Returns the name of a move as people read it; messages to the program have "pass" in every language.
export const moveName = (vertex) => vertex === "pass" ? text("script.pass") : vertex;

// Reasons, reviews and records have decimal points in all languages: the locale of each writes numbers alike.
export const number = (value, digits = 0) => new Intl.NumberFormat(words.about.locale, {
  minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: "negative",  // no -0.0
}).format(value).replace("-", "\u2212");

export const percent = (value) =>
  new Intl.NumberFormat(words.about.locale, {style: "percent", maximumFractionDigits: 0}).format(value);

// Points lost, as they stand on stones too: no number of a move has a minus sign.
export const lostPoints = (points) => `\u2212${number(points)}`;

// Returns what a player is called: by the program, or by a name, which is in any language.
export const called = (name) => name?.name ? text(name.name, name.values) : name && ISOLATE + name + POP;

// What begins a line begins with a capital letter; a path or the name of a file stays as it is.
export const sentence = (said) => said.replace(/^\p{Ll}(?=\p{L}*(?:[\s,:;]|$))/u, (letter) => letter.toLocaleUpperCase());

// Returns a sentence that the program has chosen; it may begin with a pass.
export const told = ({name, values}) => sentence(text(name, values));

// When a day is, from today: "tomorrow", "in 4 days". day: in ISO form.
export const fromToday = (day) =>
  new Intl.RelativeTimeFormat(words.about.locale, {numeric: "auto"}).format(Math.round((new Date(`${day}T00:00`) - new Date().setHours(0, 0, 0, 0)) / 864e5), "day");

// day: in ISO form, with or without the time of day; both are shown as they are written.
export const date = (day) =>
  new Intl.DateTimeFormat(words.about.locale, {dateStyle: "medium", timeStyle: day.includes("T") ? "short" : undefined, timeZone: "UTC"}).format(new Date(day.includes("T") ? `${day}Z` : day));

// Has an element say something. What it says already is not set again: a screen reader reads a live region aloud each time.
export function say(element, said) {
  if (element.textContent !== said) element.textContent = said;
}

// Loads the language that was chosen, or else the first of the browser's that there is, and fills in the page. Returns the
// names of the languages.
export async function begin() {
  const languages = await (await fetch("languages.json")).json();
  const wanted = [stored(STORED), ...navigator.languages.map((code) => code.split("-")[0])];
  await use(wanted.find((code) => code in languages) || DEFAULT);
  return languages;
}

// The user has chosen a language: it is kept. One that was only detected may be another one at the next visit.
export async function choose(code) {
  store(STORED, code);
  await use(code);
}

export async function use(code) {
  const answer = await fetch(`languages/${code}.json`);
  words = await answer.json();
  language = code;
  document.documentElement.lang = code;
  document.documentElement.dir = words.about.direction;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", text(element.dataset.label));
  for (const element of document.querySelectorAll("[data-roledescription]")) {
    element.setAttribute("aria-roledescription", text(element.dataset.roledescription));
  }
}
