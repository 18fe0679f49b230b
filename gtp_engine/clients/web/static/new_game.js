// The dialog of a new game, from the start or from a position. It begins with the settings of the present one; only the
// fields of the chosen time system are shown.
import {fillList} from "./elements.js";
import {number, text} from "./words.js";

const RULES = ["chinese", "japanese", "aga", "new-zealand", "tromp-taylor", "ing"];
const SYSTEMS = ["none", "absolute", "byoyomi", "canadian", "fischer"];
const USUAL_SIZES = [9, 13, 19], LEAST_SIZE = 2, MOST_SIZE = 25;
const HANDICAPS = [0, 2, 3, 4, 5, 6, 7, 8, 9];
const WEAKEST_KYU = 25, STRONGEST_DAN = 5;

export class NewGame {
  // dialog: with the form, whose labels of time limits name the systems that they belong to; send: sends a message.
  constructor(dialog, send) {
    this.dialog = dialog;
    this.form = dialog.querySelector("form");
    this.form.time.addEventListener("change", () => this.showLimits());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      dialog.close();
      send(this.message());
    });
  }

  // The lists, in the language of the page.
  fill() {
    const form = this.form;
    const rules = new Set([...RULES, ...(form.rules.value ? [form.rules.value] : [])]);
    const sizes = Array.from({length: MOST_SIZE - LEAST_SIZE + 1}, (_, index) => LEAST_SIZE + index);
    const others = [...form.size.options].map((option) => option.value).filter((size) => size.includes("x"));
    const offered = [...new Set([...USUAL_SIZES, ...sizes, ...others])].map((size) => [size, String(size).split("x")]);
    fillList(form.size, offered.map(([size, [width, height = width]]) => [size, `${width} × ${height}`]));
    fillList(form.rank, [["auto", text("rankAuto")], ...rankChoices()], "12k");
    fillList(form.handicap, HANDICAPS.map((stones) => [stones, number(stones)]));
    fillList(form.rules, [...rules].map((name) => [name, rulesName(name)]));
    fillList(form.time, SYSTEMS.map((name) => [name, text(`time-${name}`)]));
    form.komi.placeholder = text("usual");
    this.showLimits();
  }

  // state: of the present game. That of a record says nothing about the user's settings, but the engine has a rank and a
  // time for a move there too. from: the position that the game begins from, which has its board, komi and rules; null
  // for a new board.
  open(state, from = null) {
    const form = this.form, {game, now: {clock}} = state;
    this.present = state;
    this.from = from;
    for (const part of form.querySelectorAll("[data-of]")) part.hidden = part.disabled = part.dataset.of !== (from ? "position" : "board");
    form.rank.options[0].hidden = form.rank.options[0].disabled = !state.rating?.isKnown;
    select(form.rank, state.rating?.follows ? "auto" : game.rank);
    if (game.seconds !== null && clock.system === "none") offer(form.seconds, game.seconds);
    this.offeredSeconds = form.seconds.value;
    if (!game.isRecord) {
      const size = game.width === game.height ? game.width : `${game.width}x${game.height}`;
      if (!has(form.size, size)) form.size.add(new Option(`${game.width} × ${game.height}`, size));
      select(form.size, size);
      // Who has the colour chosen by chance wants that again.
      if (form.colour.value !== "random") select(form.colour, game.humans.length === 2 ? "both" : game.humans[0]);
      select(form.handicap, game.handicap);
      // "other" rules have no name, by which a new game chooses them.
      if (!has(form.rules, game.rules) && game.rules !== "other") form.rules.add(new Option(rulesName(game.rules), game.rules));
      select(form.rules, game.rules);
      offer(form.komi, game.isUsualKomi ? "" : game.komi);
      this.offerLimits(clock);
    }
    if (from) select(form.colour, state.position.toMove);
    this.dialog.showModal();
  }

  showLimits() {
    const system = this.form.time.value;
    for (const label of this.form.querySelectorAll("[data-systems]")) {
      label.hidden = !label.dataset.systems.split(" ").includes(system);
      label.querySelector("input").disabled = label.hidden;
    }
    this.form.minutes.min = ["byoyomi", "canadian"].includes(system) ? 0 : 0.1;
  }

  offerLimits({system, main, period, count, increment}) {
    this.form.time.value = SYSTEMS.includes(system) ? system : SYSTEMS[0];
    const found = {
      none: {},
      absolute: {},
      byoyomi: {period, periods: count},
      canadian: {stonesPeriod: period, stones: count},
      fischer: {increment},
    }[this.form.time.value];
    if (this.form.time.value !== "none") found.minutes = main / 60;
    this.showLimits();  // what is not shown is disabled, and anything would be valid there
    for (const [name, value] of Object.entries(found)) offer(this.form[name], value);
  }

  message() {
    const chosen = Object.fromEntries(new FormData(this.form));
    const players = {colour: chosen.colour, rank: chosen.rank, ...this.engineLimits(), time: timeLimits(chosen)};
    if (this.from) return {type: "branch", ...this.from, ...players};
    const [width, height = width] = chosen.size.split("x").map(Number);
    return {
      type: "new",
      width,
      height,
      ...players,
      handicap: Number(chosen.handicap),
      komi: chosen.komi === "" ? null : Number(chosen.komi),
      rules: chosen.rules,
    };
  }

  // The engine's limits for a move: those of the present game, which may be visits, unless the user has changed the
  // seconds.
  engineLimits() {
    const {form, present: {now: {clock}, game: {seconds, visits}}} = this;
    if (form.time.value !== "none") return {seconds: null, visits: null};
    const isKept = clock.system === "none" && form.seconds.value === this.offeredSeconds;
    return isKept ? {seconds, visits} : {seconds: Number(form.seconds.value), visits: null};
  }
}

// What the program takes: a system and its numbers in seconds, as in GTP's kata-time_settings.
function timeLimits({time, minutes, period, periods, stonesPeriod, stones, increment}) {
  const numbers = {byoyomi: [period, periods], canadian: [stonesPeriod, stones], fischer: [increment]}[time] || [];
  return time === "none" ? time : [time, Math.round(60 * minutes), ...numbers].join(" ");
}

// The ranks that can be chosen, each with its name.
export function rankChoices() {
  const ranks = Array.from({length: WEAKEST_KYU}, (_, index) => `${WEAKEST_KYU - index}k`);
  ranks.push(...Array.from({length: STRONGEST_DAN}, (_, index) => `${index + 1}d`), "max");
  return ranks.map((name) => [name, rankName(name)]);
}

export function rankName(rank) {
  if (rank === "max") return text("fullStrength");
  return text(rank.endsWith("d") ? "dan" : "kyu", {number: number(parseInt(rank, 10))});
}

export const rulesName = (name) => text(`rules-${name}`);

const has = (list, value) => [...list.options].some((option) => option.value === String(value));

function select(list, value) {
  if (has(list, value)) list.value = String(value);
}

// Puts a value into a field unless the form would refuse it: a command may have set what nobody can choose here.
function offer(field, value) {
  const before = field.value;
  field.value = value;
  if (!field.checkValidity()) field.value = before;
}
