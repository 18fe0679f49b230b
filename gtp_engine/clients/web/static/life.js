// Whether a group is alive: the user picks a stone, the program reads, and the lines that show it are played on the board.
import {button, find} from "./elements.js";
import {moveName, number, say, sentence, text, told} from "./words.js";

export class Life {
  // send: sends a message; shown: returns the position that the page shows; onChange: called when the board has to show
  // something else; announce: has a screen reader say something.
  constructor(send, {shown, onChange, announce}) {
    Object.assign(this, {send, onChange, announce, moves: [], first: null, isPicking: false, life: null});
    find("#life").addEventListener("click", () => this.isOpen ? this.leave() : this.pick());
    find("#life-stop").addEventListener("click", () => send({type: "stop-solve"}));
    find("#life-leave").addEventListener("click", () => this.leave());
    find("#life-back").addEventListener("click", () => this.step(-1));
    find("#life-on").addEventListener("click", () => this.step(1));
    this.solve = (point) => send({type: "solve", point, ...shown()});
  }

  // Whether the board belongs to this, and not to the game.
  get isOpen() { return this.isPicking || Boolean(this.life); }

  get answer() { return this.life?.found?.answers.find(({first}) => first === this.first); }

  // The message that asks for the position in the lines; null if there are none.
  get line() { return this.answer ? {type: "lines", first: this.first, moves: this.moves} : null; }

  // The moves that follow the position in the lines.
  get following() {
    return this.moves.reduce((tree, move) => tree.find((each) => each.move === move).replies, this.answer.tree);
  }

  pick() {
    this.isPicking = true;
    this.changed();
    find("#board").focus();
  }

  leave() {
    if (this.life) this.send({type: "leave-solve"});
    this.isPicking = false;
    this.changed();
  }

  // A point on the board was chosen; returns whether that was meant for this.
  use(point) {
    if (!this.isOpen) return false;
    if (this.isPicking) this.solve(point);
    else if (this.answer) this.follow(point);
    return true;
  }

  follow(move) {
    if (!this.following.some((each) => each.move === move)) return this.announce(sentence(text("lifeOther", {move: moveName(move)})));
    this.moves.push(move);
    this.changed();
  }

  // Goes back, or on in the main line; returns whether there are lines.
  step(step) {
    if (!this.answer) return false;
    if (step < 0) this.moves.pop();
    else if (this.following.length) this.moves.push(this.following[0].move);
    this.changed();
    return true;
  }

  begin(first) {
    this.first = first;
    this.moves = [];
    this.changed();
  }

  changed() {
    this.render();
    this.onChange();
  }

  show(state) {
    const before = this.life, life = this.life = state.solving.life;
    if (life) this.isPicking = false;
    if (life?.found && !(before?.found && before.stone === life.stone)) {
      this.first = state.position.toMove;
      this.moves = [];
    }
    this.render();
  }

  render() {
    const {life, answer} = this;
    find("#life").setAttribute("aria-pressed", this.isOpen);
    find("#board").classList.toggle("picking", this.isPicking || Boolean(answer));
    find("#solved").hidden = !this.isOpen;
    find("#life-leave").hidden = !life;
    find("#life-stop").hidden = find("#life-progress").hidden = !life || Boolean(life.found);
    for (const id of ["life-back", "life-on"]) find(`#${id}`).hidden = !answer;
    const stage = [life?.found?.status, life?.positions && life.stone, life?.thought.length, this.isPicking].join();
    if (stage && stage !== this.stage) this.announce(this.statusText());  // once, without the positions in between
    this.stage = stage;
    const assumed = [answer?.walls.length && text("lifeWalls"), life?.found?.isConditional && text("ifEnclosed")];
    say(find("#life-walls"), assumed.filter(Boolean).join(" "));
    find("#life-progress").value = life?.progress || 0;
    const said = JSON.stringify([life?.found, this.first, this.moves, document.documentElement.lang]);
    if (said === this.said) return;  // the lists stay the same elements, so that the focus stays
    this.said = said;
    this.renderLines();
  }

  // What is said next to the board: as long as nothing is proved, also what the network thinks; "" if nothing was asked.
  statusText() {
    if (!this.life) return this.isPicking ? text("lifePick") : "";
    const {stone, positions, found, thought} = this.life, isKnown = found && found.status !== "unknown";
    const reading = positions ? text("lifeReading", {stone, positions: number(positions)}) : text("compiling");
    const now = found ? text(`life-${found.status}`, {stone}) : reading;
    return [now, ...(isKnown ? [] : thought.map(told))].join(" ");
  }

  renderLines() {
    const {answer, life} = this, following = answer ? this.following : [];
    const answers = (life?.found?.answers || []).map(({first, outcome}) => {
      const entry = button(text("lifeAnswer", {colour: text(first), outcome: text(`outcome-${outcome}`)}), () => this.begin(first));
      entry.setAttribute("aria-pressed", first === this.first);
      return entry;
    });
    const moves = following.map(({move, outcome}) => {
      const values = {move: moveName(move), outcome: text(`outcome-${outcome}`)};
      return button(this.moves.length ? values.move : text("lifeMove", values), () => this.follow(move));
    });
    replace(find("#life-answers"), answers, (entry) => entry.getAttribute("aria-pressed") === "true");
    replace(find("#life-moves"), moves, () => true);
    const isEnd = answer && this.moves.length && !moves.length;
    say(find("#life-line"), answer ? this.moves.map((move, index) => `${index + 1} ${moveName(move)}`).join("  ") : "");
    say(find("#life-end"), isEnd ? text("lifeEnd") : "");
    find("#life-back").disabled = !this.moves.length;
    find("#life-on").disabled = !moves.length;
  }
}

// Puts buttons into an element; one of them gets the focus if one of those before had it.
function replace(element, entries, isNext) {
  const hadFocus = element.contains(document.activeElement);
  element.replaceChildren(...entries);
  if (hadFocus) (entries.find(isNext) || find("#life-leave")).focus();
}
