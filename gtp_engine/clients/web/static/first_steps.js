// First steps for somebody who has never played: boards with tasks, small games, and the ataris in the game after them.
import {button, find, make} from "./elements.js";
import {addButton} from "./faces.js";
import {say, text} from "./words.js";

const FALLBACK = "en";

export class FirstSteps {
  // send: sends a message; board: the board of the page, which shows the step while it is open.
  constructor(send, board) {
    Object.assign(this, {send, board, step: null});
    const ask = (type) => () => send({type});
    this.place = make("p", {className: "place"});
    this.title = make("h2", {});
    this.title.tabIndex = -1;
    this.lesson = make("p", {className: "lesson"});
    this.said = make("p", {className: "said"});
    this.said.setAttribute("role", "status");
    this.buttons = {
      next: button("", () => this.go(this.step.number + 1)),
      begin: button("", ask("step-game")),
      again: button("", ask("step-again")),
      pass: button("", () => this.use("pass")),
      undo: button("", ask("step-undo")),
      hint: button("", ask("step-hint")),
      unmark: button("", ask("no-marks")),
      leave: button("", ask("leave-steps")),
    };
    for (const [name, entry] of Object.entries(this.buttons)) entry.id = `step-${name}`;
    addButton("steps.title", "begin", ask("first-steps")).id = "learn";
    const choices = make("div", {className: "choices"});
    choices.append(...Object.values(this.buttons));
    this.numbers = make("div", {className: "choices numbers"});
    this.numbers.setAttribute("role", "group");
    this.section = make("section", {});
    this.section.id = "first-steps";
    this.section.hidden = true;
    this.section.append(this.place, this.title, this.lesson, this.said, choices, this.numbers);
    find("#steps").after(this.section);
  }

  get isOpen() { return Boolean(this.step); }

  go(number) {
    this.isFollowed = true;  // the focus goes to what is new
    this.send({type: "step", number});
  }

  // A point on the board was chosen; returns whether that was meant for this.
  use(point) {
    if (!this.isOpen) return false;
    this.send({type: "step-play", point});
    this.board.refused();  // it shows no stone before the answer, which is the same if the point is forbidden once more
    return true;
  }

  show({steps: {step, helps, ataris}}) {
    this.step = step;
    document.body.classList.toggle("learning", this.isOpen);
    document.body.classList.toggle("helped", helps);
    this.section.hidden = !(step || helps);
    if (this.section.hidden) return;
    const {buttons} = this, isGame = step?.goal === "game", isLast = step?.number === step?.count - 1;
    const isOver = Boolean(step) && step.state !== "asked";
    const shown = {
      next: step && !isLast && (!isGame || isOver),
      begin: isGame,
      again: isOver,
      pass: step && !isOver && ["win", "first capture"].includes(step.goal),
      undo: step?.canUndo && (!isOver || !step.isTask),
      hint: step && !isGame && !isOver,
      unmark: !step,
      leave: step,
    };
    const texts = {next: "steps.next", begin: "begin", again: "problemAgain", pass: "pass", undo: "undo", hint: "hint", unmark: "steps.noMarks", leave: "controls.leave"};
    for (const [name, entry] of Object.entries(buttons)) {
      entry.hidden = !shown[name];
      say(entry, text(texts[name]));
    }
    const main = isGame ? "begin" : step?.state === "right" ? "next" : step?.state === "wrong" ? "again" : "";
    for (const [name, entry] of Object.entries(buttons)) entry.classList.toggle("primary", name === main);
    for (const part of [this.place, this.title, this.lesson, this.numbers]) part.hidden = !step;
    const sentences = (step ? step.remarks : ataris).map(({name, values}) => text(name, values));
    this.section.classList.toggle("tried", !step || step.said !== "task" || step.canUndo);
    if (step) this.showStep(step, sentences);
    else this.tell(sentences, "");
  }

  showStep(step, sentences) {
    const texts = step.texts[document.documentElement.lang] ?? step.texts[FALLBACK];
    say(this.place, `${text("steps.title")} · ${text("steps.place", {number: step.number + 1, count: step.count})}`);
    say(this.title, texts.title);
    say(this.lesson, texts.text);
    const before = this.said.textContent;
    this.tell([texts[step.said], ...sentences, step.isThinking && text("thinking", {colour: text("white")})].filter(Boolean), step.state);
    if (this.number !== step.number) window.scrollTo(0, 0);
    else if (this.said.textContent !== before) this.said.scrollIntoView({block: "nearest"});
    if (this.numbers.childElementCount !== step.count) {
      this.numbers.replaceChildren(...Array.from({length: step.count}, (_, number) => button(String(number + 1), () => this.go(number))));
    }
    [...this.numbers.children].forEach((entry, number) => {
      if (number === step.number) entry.setAttribute("aria-current", "step");
      else entry.removeAttribute("aria-current");
      entry.setAttribute("aria-label", text("steps.place", {number: number + 1, count: step.count}));
    });
    if (this.isFollowed || this.number === undefined) this.title.focus({preventScroll: true});
    this.isFollowed = false;
    this.number = step.number;
  }

  tell(sentences, state) {
    say(this.said, sentences.join("\n"));
    this.said.dataset.state = state;
  }

  get label() {
    const {width, height, lastMove: last} = this.step;
    const said = last ? text(last.vertex === "pass" ? "passes" : "plays", {colour: text(last.colour), move: last.vertex}) : text("noMoves");
    return text("boardLabel", {size: `${width} × ${height}`, last: said});
  }

  draw() {
    const {board: svg, width, height, stones, drawn, lastMove, goal, state, isTask, isThinking} = this.step;
    const isAsked = isTask ? state !== "right" : state === "asked" && goal !== "game";
    const colour = isAsked && !isThinking ? "black" : null;
    this.board.show(svg, {width, height, stones, drawn, last: lastMove?.vertex, title: this.label, colour, isPreview: false});
  }
}
