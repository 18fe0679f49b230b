// The time limits in the dialog of a new game: only the fields of the chosen system are shown.
import {fillList} from "./elements.js";
import {text} from "./words.js";

// Puts a value into a field unless the form would refuse it: a command may have set what nobody can choose here.
export function offer(field, value) {
  const before = field.value;
  field.value = value;
  if (!field.checkValidity()) field.value = before;
}

const SYSTEMS = ["none", "absolute", "byoyomi", "canadian", "fischer"];

export class TimeLimits {
  // form: of the new game; each label of the limits names the systems that it belongs to.
  constructor(form) {
    this.form = form;
    form.time.addEventListener("change", () => this.show());
  }

  fill() {
    fillList(this.form.time, SYSTEMS.map((name) => [name, text(`time-${name}`)]), SYSTEMS[0]);
    this.show();
  }

  show() {
    const system = this.form.time.value;
    for (const label of this.form.querySelectorAll("[data-systems]")) {
      label.hidden = !label.dataset.systems.split(" ").includes(system);
      label.querySelector("input").disabled = label.hidden;
    }
    this.form.minutes.min = ["byoyomi", "canadian"].includes(system) ? 0 : 0.1;
  }

  // Chooses the limits of a game.
  suggest({system, main, period, periods, increment}) {
    this.form.time.value = SYSTEMS.includes(system) ? system : SYSTEMS[0];
    const found = {
      none: {},
      absolute: {},
      byoyomi: {period, periods},
      canadian: {stonesPeriod: period, stones: periods},
      fischer: {increment},
    }[this.form.time.value];
    if (this.form.time.value !== "none") found.minutes = main / 60;
    this.show();  // what is not shown is disabled, and anything would be valid there
    for (const [name, value] of Object.entries(found)) offer(this.form[name], value);
  }

  // What the program takes: a system and its numbers in seconds, as in GTP's kata-time_settings.
  words({time, minutes, period, periods, stonesPeriod, stones, increment}) {
    const numbers = {byoyomi: [period, periods], canadian: [stonesPeriod, stones], fischer: [increment]}[time] || [];
    return time === "none" ? time : [time, Math.round(60 * minutes), ...numbers].join(" ");
  }
}
