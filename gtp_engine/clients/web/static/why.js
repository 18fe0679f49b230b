// Why the move that is shown is a mistake: the line that refutes it is played on the board, and other moves can be tried.
import {button, find, make} from "./elements.js";
import {moveName, say, text, told} from "./words.js";

const PACE = 900;  // milliseconds between the moves of a line that is played out

export class Why {
  // send: sends a message; shown: returns the position that the page shows; onChange: called when the board has to show
  // something else; announce: has a screen reader say something.
  constructor(send, {shown, onChange, announce}) {
    Object.assign(this, {send, onChange, announce, count: 0, asked: null});
    this.ask = (type, values = {}) => send({type, ...values, ...shown()});
    const named = (id, said, onClick, sign = "") => {
      const element = Object.assign(button(sign, onClick), {id});
      Object.assign(element.dataset, said);
      return element;
    };
    this.lines = make("div", {id: "why-lines"});
    const first = make("div", {},
      named("why", {text: "why"}, () => this.ask("why")), named("what-if", {text: "whatIf"}, () => this.pick()));
    const last = make("div", {},
      named("why-back", {label: "previous"}, () => this.step(-1), "‹"),
      named("why-on", {label: "next"}, () => this.step(1), "›"),
      named("why-leave", {text: "controls.leave"}, () => this.leave()));
    this.panel = make("section", {id: "why-panel"}, find("#loss"), first, this.lines, last);
    find("#steps").after(this.panel);
  }

  // Whether the board belongs to this, and not to the game.
  get isOpen() { return Boolean(this.asked); }

  get moves() { return this.asked?.lines?.[this.name] || []; }

  // The message that asks for the position in the line; null if there is none. Before a move is tried: that of the mistake.
  get line() {
    if (!this.asked?.lines) return null;
    const count = this.isPicking ? 0 : this.count;
    return {type: "why-line", line: this.name, moves: count, name: `why ${this.name} ${count}`};
  }

  pick() {
    this.isPicking = !this.isPicking;
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
  step(step) {
    if (!this.moves.length) return false;
    clearInterval(this.playing);
    this.isPicking = false;
    this.count = Math.min(Math.max(this.count + step, 0), this.moves.length);
    this.changed();
    return true;
  }

  // Plays a line on the board, move by move, or shows it at once to those who want no movement.
  play(name) {
    clearInterval(this.playing);
    Object.assign(this, {name, isPicking: false, count: matchMedia("(prefers-reduced-motion: reduce)").matches ? this.asked.lines[name].length : 1});
    this.playing = setInterval(() => {
      if (this.count < this.moves.length && !this.isPicking) this.count++;
      else clearInterval(this.playing);
      this.changed();
    }, PACE);
    this.changed();
  }

  changed() {
    this.render();
    this.onChange();
  }

  show({asking: {why}, problems, search, solving}) {
    const before = this.asked, asked = this.asked = why.asked;
    this.canAsk = why.canAsk;
    this.panel.hidden = Boolean(problems.exercise || solving.life) || !(why.canAsk || asked || search.loss);
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
    const {asked} = this, isKnown = Boolean(asked?.lines), hadFocus = document.activeElement?.id === "why", said = this.statusText();
    if (said && said !== this.said) this.announce(said);
    this.said = said;
    find("#why").hidden = this.isOpen || !this.canAsk;
    find("#what-if").setAttribute("aria-pressed", Boolean(this.isPicking));
    find("#what-if").hidden = find("#why-back").hidden = find("#why-on").hidden = !isKnown;
    find("#why-leave").hidden = !asked;
    if (asked && hadFocus) find("#why-leave").focus({preventScroll: true});
    find("#why-back").disabled = !this.count;
    find("#why-on").disabled = this.count >= this.moves.length;
    if (this.isOpen) find("#board").classList.toggle("picking", Boolean(this.isPicking));
    const lines = Object.entries(asked?.lines || {}).filter(([, moves]) => moves.length);
    while (this.lines.children.length > lines.length) this.lines.lastElementChild.remove();
    while (this.lines.children.length < lines.length) {
      const entry = button("", () => this.play(entry.dataset.line));
      this.lines.append(entry);
    }
    lines.forEach(([name, moves], index) => {
      const entry = this.lines.children[index];
      entry.dataset.line = name;
      say(entry, text("lineAfter", {move: moveName(moves[0])}));
      entry.setAttribute("aria-pressed", name === this.name && !this.isPicking);
    });
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
