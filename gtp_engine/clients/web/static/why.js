// Why the move that is shown is a mistake: the line that refutes it is played on the board, and other moves can be tried.
import {find} from "./elements.js";
import {moveName, say, text, told} from "./words.js";

const PACE = 900;  // milliseconds between the moves of a line that is played out

export class Why {
  // send: sends a message; shown: returns the position that the page shows; onChange: called when the board has to show
  // something else; announce: has a screen reader say something.
  constructor(send, {shown, onChange, announce}) {
    Object.assign(this, {send, onChange, announce, count: 0, asked: null});
    this.ask = (type, values = {}) => send({type, ...values, ...shown()});
    this.lines = ["refutation", "better", "tried"].map((name) => [name, find(`#why-${name}`)]);
    for (const [name, entry] of this.lines) entry.addEventListener("click", () => this.play(name));
    find("#why").addEventListener("click", () => this.ask("why"));
    find("#what-if").addEventListener("click", () => this.pick());
    find("#why-leave").addEventListener("click", () => this.leave());
  }

  // Whether the board belongs to this, and not to the game.
  get isOpen() { return Boolean(this.asked); }

  get moves() { return this.asked?.lines?.[this.name] || []; }

  // The message that asks for the position in the line; null if there is none. Before a move is tried: that of the mistake.
  get line() {
    return this.asked?.lines ? {type: "why-line", line: this.name, moves: this.count, name: `why ${this.name} ${this.count}`} : null;
  }

  pick() {
    clearInterval(this.playing);
    this.isPicking = !this.isPicking;
    this.count = 0;
    this.changed();
    find("#board").focus();
  }

  leave() {
    this.ask("leave-why");
    this.asked = null;
    this.changed();
  }

  // A point on the board was chosen; returns whether that was meant for this.
  use(point) {
    if (this.isPicking) this.ask("what-if", {point});
    if (this.isPicking) this.name = "refutation";  // until there is an answer, the line of another move may be gone
    return this.isOpen;
  }

  // Goes back or on in the line; returns whether there is one.
  step(step) { return this.goTo(this.count + step); }

  goTo(count) {
    if (!this.moves.length) return false;
    clearInterval(this.playing);
    this.isPicking = false;
    this.count = Math.min(Math.max(count, 0), this.moves.length);
    this.changed();
    return true;
  }

  // Plays a line on the board, move by move, or shows it at once to those who want no movement.
  play(name) {
    clearInterval(this.playing);
    Object.assign(this, {name, isPicking: false, count: matchMedia("(prefers-reduced-motion: reduce)").matches ? this.asked.lines[name].length : 1});
    this.playing = setInterval(() => {
      if (this.count < this.moves.length) this.count++;
      else clearInterval(this.playing);
      this.changed();
    }, PACE);
    this.changed();
  }

  changed() {
    this.render();
    this.onChange();
  }

  show({asking: {why}, problems, solving}) {
    const before = this.asked, asked = this.asked = why.asked;
    this.canAsk = why.canAsk && !problems.exercise && !solving.life;
    if (!asked?.lines) {
      clearInterval(this.playing);
      this.isPicking = false;
    } else if (asked.lines.tried && asked.lines.tried.join() !== before?.lines?.tried?.join()) {
      this.play("tried");
    } else if (!before?.lines || !asked.lines[this.name]) {
      this.play(asked.lines.refutation ? "refutation" : "tried");  // the mistake itself has been tried
    }
    this.render();
  }

  render() {
    const {asked} = this, said = this.statusText();
    if (said && said !== this.said) this.announce(said);
    this.said = said;
    find("#why").hidden = this.isOpen || !this.canAsk;
    find("#why-leave").hidden = !asked;
    find("#what-if").hidden = !asked?.lines;
    find("#what-if").setAttribute("aria-pressed", Boolean(this.isPicking));
    if (this.isOpen) find("#board").classList.toggle("picking", Boolean(this.isPicking));
    for (const [name, entry] of this.lines) {
      const moves = asked?.lines?.[name] || [];
      entry.hidden = !moves.length || (name === this.name && !this.isPicking);  // the board shows that one
      if (moves.length) say(entry, text("lineAfter", {move: moveName(moves[0])}));
    }
  }

  // What is said next to the board; "" if nothing was asked.
  statusText() {
    const {asked} = this;
    if (!asked) return "";
    if (asked.isSearching || !asked.lines) return text("searching");
    if (this.isPicking) return text("whatIfPick");
    return this.name === "tried" ? asked.tried.map(told).join(" ") : told(asked.sentence);
  }
}
