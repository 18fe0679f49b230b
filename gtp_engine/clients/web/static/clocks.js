// The players' clocks: the time that they have used or, in games with time limits, what they have left. Between the
// messages of the program they only count: the program says when a period ends, and what is left then.
import {number, say, text} from "./words.js";

const STEP = 200;  // milliseconds
const LAST_SECONDS = 10;

export class Clocks {
  // players: the elements with a clock each; announcement: the element that says that a person's last seconds have begun;
  // onLastSecond: called as each of them begins.
  constructor(players, announcement, onLastSecond) {
    this.players = players;
    this.announcement = announcement;
    this.onLastSecond = onLastSecond;
    this.isConnected = false;
    this.shown = null;  // the person whose time was shown as running, the seconds and the count
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
    const {now: {clock, task}, position: {toMove}, game: {humans}} = this.state;
    const since = this.isConnected ? (performance.now() - this.received) / 1000 : 0;
    let shown = null;
    for (const player of this.players) {
      const colour = player.dataset.colour, spent = clock.running === colour ? since : 0;
      const isThinking = this.isConnected && task && task.kind === "move" && colour === toMove;
      const [seconds, count] = clock.left[colour] ?? [];
      const left = clock.left[colour] && {seconds: Math.max(0, seconds - spent), count};
      const said = left
        ? leftText(left, clock, text(colour))
        : usedText(clock.used[colour] + spent, isThinking ? task.seconds + since : null, text(colour));
      const element = player.querySelector(".clock");
      say(element, said.short);
      if (element.getAttribute("aria-label") !== said.long) element.setAttribute("aria-label", said.long);
      element.classList.toggle("limited", Boolean(left));
      element.classList.toggle("urgent", Boolean(left) && clock.running === colour && left.seconds <= LAST_SECONDS);
      const isCounted = left && this.isConnected && clock.running === colour && humans.includes(colour);
      if (isCounted && left.seconds > 0) shown = {colour, seconds: Math.ceil(left.seconds), count: left.count};
    }
    this.follow(shown, clock);
  }

  // Tells the last seconds of the main time, of a period, or of a turn that begins with no more than these.
  follow(shown, clock) {
    const before = this.shown;
    // A message may correct the clock by a fraction of a second: the second that it shows does not begin again.
    const goesOn = before && shown && before.colour === shown.colour && before.count === shown.count
      && shown.seconds <= before.seconds + 1;
    if (goesOn && shown.seconds >= before.seconds) return;
    this.shown = shown;
    if (!shown || shown.seconds > LAST_SECONDS) {
      this.announcement.textContent = "";  // so that the same words are news the next time
      return;
    }
    const isFirst = !goesOn || before.seconds > LAST_SECONDS;
    if (isFirst) this.announcement.textContent = withCount(text("lastSeconds", {count: shown.seconds}), shown.count, clock);
    this.onLastSecond();
  }
}

// The short text for the eye, and the whole one for a screen reader.
function leftText({seconds, count}, clock, colour) {
  const time = clockText(Math.ceil(seconds)), long = withCount(text("timeLeft", {colour, time}), count, clock);
  if (count === 0) return {short: time, long};
  return {short: clock.system === "byoyomi" ? `${time} (${count})` : `${time} / ${count}`, long};
}

// Adds the periods or stones, if any.
function withCount(said, count, {system}) {
  return count === 0 ? said : `${said} · ${text(system === "byoyomi" ? "periodsLeft" : "stonesLeft", {count})}`;
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
