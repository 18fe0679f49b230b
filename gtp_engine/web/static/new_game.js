// The dialog of a new game begins with the settings of the present one.
import {offer} from "./time_limits.js";

let offeredSeconds = null;  // for a move, as the dialog began

// form: of the dialog; timeLimits: its time limits. The game of a record says nothing about the user's settings, but the
// engine has a rank and a time for a move there too.
export function suggest(form, timeLimits, state) {
  select(form.rank, state.rank);
  if (state.seconds !== null && state.clock.system === "none") offer(form.seconds, state.seconds);
  offeredSeconds = form.seconds.value;
  if (state.isRecord) return;
  if (state.width === state.height) {
    if (!has(form.size, state.width)) form.size.add(new Option(`${state.width} × ${state.width}`, state.width));
    select(form.size, state.width);
  }
  // Who has the colour chosen by chance wants that again.
  if (form.colour.value !== "random") select(form.colour, state.humans.length === 2 ? "both" : state.humans[0]);
  select(form.handicap, state.handicap);
  // "other" rules have no name, by which a new game chooses them.
  if (!has(form.rules, state.rules) && state.rules !== "other") form.rules.add(new Option(state.rules, state.rules));
  select(form.rules, state.rules);
  offer(form.komi, state.isUsualKomi ? "" : state.komi);
  timeLimits.suggest(state.clock);
}

// Returns the engine's limits for a move in the new game: those of the present one, which may be visits, unless the user
// has changed the seconds.
export function engineLimits(form, state) {
  if (form.time.value !== "none") return {seconds: null, visits: null};
  const isKept = state.clock.system === "none" && form.seconds.value === offeredSeconds;
  return isKept ? {seconds: state.seconds, visits: state.visits} : {seconds: Number(form.seconds.value), visits: null};
}

const has = (list, value) => [...list.options].some((option) => option.value === String(value));

function select(list, value) {
  if (has(list, value)) list.value = String(value);
}
