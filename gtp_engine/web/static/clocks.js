// The players' clocks: the time that they have used or, in games with time limits, what they have left. They go on
// between the messages of the program, each of which corrects them.
import {number, text} from "./words.js";

const STEP = 200;  // milliseconds
const LAST_SECONDS = 10;

export class Clocks {
  // players: the elements with a clock each; onLastSeconds: called with each of a person's last seconds as it begins.
  constructor(players, onLastSeconds) {
    this.players = players;
    this.onLastSeconds = onLastSeconds;
    this.isConnected = false;
    this.shown = null;  // whose time was shown as running, and the seconds
    setInterval(() => this.draw(), STEP);
  }

  show(state) {
    this.state = state;
    this.received = performance.now();
    this.draw();
  }

  connect(isConnected) {
    this.isConnected = isConnected;
    this.draw();
  }

  draw() {
    if (!this.state) return;
    const {clock, task, toMove, humans} = this.state, since = this.isConnected ? (performance.now() - this.received) / 1000 : 0;
    let shown = null;
    for (const player of this.players) {
      const colour = player.dataset.colour, spent = clock.running === colour ? since : 0;
      const isThinking = this.isConnected && task && task.kind === "move" && colour === toMove;
      const left = clock.left[colour] && leftAfter(clock.left[colour], spent, clock);
      const said = left
        ? leftText(left, clock, text(colour))
        : usedText(clock.used[colour] + spent, isThinking ? task.seconds + since : null, text(colour));
      const element = player.querySelector(".clock");
      if (element.textContent !== said.short) element.textContent = said.short;
      if (element.getAttribute("aria-label") !== said.long) element.setAttribute("aria-label", said.long);
      element.classList.toggle("limited", Boolean(left));
      element.classList.toggle("urgent", Boolean(left) && clock.running === colour && left.seconds <= LAST_SECONDS);
      if (left && clock.running === colour && humans.includes(colour)) shown = {colour, seconds: Math.ceil(left.seconds)};
    }
    this.follow(shown);
  }

  follow(shown) {
    const before = this.shown;
    this.shown = shown;
    const isNext = before && shown && before.colour === shown.colour && shown.seconds < before.seconds;
    if (isNext && shown.seconds <= LAST_SECONDS) this.onLastSeconds(shown.seconds, before.seconds > LAST_SECONDS);
  }
}

// Returns what is left after some seconds of the turn, which may use up the main time and periods of byo-yomi.
export function leftAfter([seconds, count], spent, {system, period, periods}) {
  seconds -= spent;
  const hasOvertime = system === "byoyomi" || system === "canadian";
  if (seconds <= 0 && hasOvertime && count === 0) [seconds, count] = [seconds + period, periods];
  while (system === "byoyomi" && seconds <= 0 && count > 1) [seconds, count] = [seconds + period, count - 1];
  return {seconds: Math.max(0, seconds), count};
}

// The short text for the eye, and the whole one for a screen reader.
function leftText({seconds, count}, {system}, colour) {
  const time = clockText(Math.ceil(seconds));
  if (count === 0) return {short: time, long: text("timeLeft", {colour, time})};
  const [short, name] = system === "byoyomi" ? [`${time} (${count})`, "periodsLeft"] : [`${time} / ${count}`, "stonesLeft"];
  return {short, long: `${text("timeLeft", {colour, time})} · ${text(name, {count})}`};
}

function usedText(used, thinking, colour) {
  const time = used ? clockText(Math.floor(used)) : "";
  const move = thinking === null ? "" : text("seconds", {seconds: number(thinking, 1)});
  const short = [move, time].filter(Boolean).join(" · ");
  return {short, long: text("timeUsed", {colour, time: time || clockText(0)})};
}

function clockText(seconds) {
  const digits = (value) => String(value).padStart(2, "0");
  const minutes = `${Math.floor(seconds / 60) % 60}`, hours = Math.floor(seconds / 3600);
  return hours ? `${hours}:${digits(minutes)}:${digits(seconds % 60)}` : `${minutes}:${digits(seconds % 60)}`;
}
