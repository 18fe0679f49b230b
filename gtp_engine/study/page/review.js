// Steps through the reviewed games of the page, drawn by `Drawing` of drawing.js, which the page has before this script.
// The page's data say what to draw; of the rules of Go this script knows only how stones are captured.
//
// The data of a game:
//   width, height
//   before     the number of moves before the first position
//   worst      the position after the most costly mistake, 0 without mistakes
//   stones     the points of Black's and of White's stones in the first position
//   positions  for each position what it is worth, whose turn it is, and the candidates: Black's lead, the disc's colour,
//              its player's win rate in percent, visits, and the line
//   moves      colour, point; stones as above if the record sets up some after it; verdict, if the move is judged;
//              mistake, reasons: texts and lines
//   comments   the record's comments, by position
// Points are two letters as in SGF, a pass is "..".
(() => {
"use strict";
const {words} = JSON.parse(document.getElementById("shared").textContent);

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const colourName = (colour) => colour === BLACK ? words.black : words.white;
// Points are numbers here: row * width + column from the top left, PASS for a pass.
const letter = (text, place) => text.charCodeAt(place) - 97;
const points = (text, width) => (text.match(/../g) || []).map((name) => {
  return name === ".." ? PASS : letter(name, 1) * width + letter(name, 0);
});

function readGame(data) {
  const {width} = data;
  const stones = (texts) => texts && texts.map((text) => points(text, width));
  const move = ({point, reasons = [], ...others}) => ({
    ...others,
    point: points(point, width)[0],
    stones: stones(others.stones),
    reasons: reasons.map(([text, line]) => ({text, line: points(line, width)})),
  });
  const candidate = (turn) => ([lead, fill, winrate, visits, line], index) => (
    {index, isBest: index === 0, turn, lead, fill, winrate: Number(winrate), visits, text: [winrate, visits], line: points(line, width)}
  );
  const position = ([value, turn, candidates]) => ({value, turn, candidates: candidates.map(candidate(turn))});
  return {...data, stones: stones(data.stones), positions: data.positions.map(position), moves: data.moves.map(move)};
}

function htmlElement(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

class Game {
  constructor(section) {
    this.section = section;
    this.data = readGame(JSON.parse(section.querySelector(".data").textContent));
    this.viewer = section.querySelector(".viewer");
    const svg = this.viewer.querySelector(".board svg");
    this.board = new Drawing(svg, this.data.width, this.data.height);
    this.candidates = svg.querySelector(".candidates");
    this.slider = this.viewer.querySelector(".slider");
    this.positions = this.stonesOfPositions();
    this.mistakes = this.data.moves.flatMap((move, index) => move.mistake ? [index + 1] : []);
    this.place = 0;    // the number of moves of the data that have been played
    this.line = null;  // the line that is played out: points, the position it starts from, how many moves are shown
    this.listen();
    this.go(this.data.worst);  // what a reader wants to see first
  }

  get end() { return this.data.moves.length; }

  find(name) { return this.viewer.querySelector("." + name); }

  stonesOfPositions() {
    const positions = [this.setUp(this.data.stones)];
    for (const {stones, colour, point} of this.data.moves) {
      positions.push(stones ? this.setUp(stones) : this.played(positions.at(-1), colour, point));
    }
    return positions;
  }

  setUp([black, white]) {
    const stones = new Array(this.data.width * this.data.height).fill(0);
    for (const point of black) stones[point] = BLACK;
    for (const point of white) stones[point] = WHITE;
    return stones;
  }

  // The stones after a move: those of the opponent without liberties leave the board, then the player's own.
  played(stones, colour, point) {
    const next = stones.slice();
    if (point === PASS) return next;
    next[point] = colour;
    for (const owner of [3 - colour, colour]) {
      for (const place of [...this.neighbours(point), point]) {
        const chain = next[place] === owner ? this.chain(next, place) : [];
        if (chain.every((stone) => this.neighbours(stone).every((beside) => next[beside]))) {
          for (const stone of chain) next[stone] = 0;
        }
      }
    }
    return next;
  }

  neighbours(point) {
    const {width, height} = this.data, column = point % width;
    return [
      ...(column > 0 ? [point - 1] : []),
      ...(column < width - 1 ? [point + 1] : []),
      ...[point - width, point + width].filter((place) => place >= 0 && place < width * height),
    ];
  }

  chain(stones, point) {
    const chain = new Set([point]);
    for (const stone of chain) {
      for (const place of this.neighbours(stone)) if (stones[place] === stones[point]) chain.add(place);
    }
    return [...chain];
  }

  vertex(point) { return point === PASS ? words.pass : this.board.vertex(point); }

  lineText(line) { return line.map((point, index) => `${index + 1} ${this.vertex(point)}`).join("  "); }

  // Goes to a position of the game, and leaves a line.
  go(place) {
    this.place = Math.max(0, Math.min(this.end, place));
    this.line = null;
    this.show();
  }

  // Plays the first move of a line that starts after `from` moves.
  play(points, from) {
    if (!points.length) return;
    this.line = {points, from, shown: 1};
    this.show();
    this.find("board").scrollIntoView({block: "nearest"});  // on a phone the lines are below it
  }

  // Plays out a line that could have been played instead of the move shown.
  playInstead(index) {
    if (!this.place) return;
    const candidate = this.data.positions[this.place - 1].candidates[index];
    if (candidate) this.play(candidate.line, this.place - 1);
  }

  step(by) {
    if (!this.line) return this.go(this.place + by);
    const shown = this.line.shown + by;
    if (shown < 1) return this.go(this.place);
    this.line.shown = Math.min(shown, this.line.points.length);
    this.show();
  }

  toMistake(by) {
    const next = by > 0
      ? this.mistakes.find((place) => place > this.place)
      : this.mistakes.findLast((place) => place < this.place);
    if (next !== undefined) this.go(next);
  }

  show() {
    const wasAt = this.shownPlace;
    this.shownPlace = this.place;
    if (wasAt !== this.place) this.showMove();
    this.find("leave").hidden = !this.line;
    this.find("worth").style.visibility = this.line ? "hidden" : "";  // the value is that of the game's move
    if (this.line) this.showLine();
    else this.showPosition();
    for (const button of this.viewer.querySelectorAll("button.play")) {
      button.setAttribute("aria-pressed", String(this.line !== null && button.points === this.line.points));
    }
  }

  showPosition() {
    const move = this.data.moves[this.place - 1];
    const last = move ? move.point : PASS;
    const title = this.heading(move);
    this.find("place").textContent = title;
    const candidates = (move ? this.data.positions[this.place - 1].candidates : [])
      .map((candidate) => ({...candidate, point: candidate.line[0]}))
      .filter(({point}) => point !== PASS && point !== last && !this.positions[this.place][point]);
    this.board.draw({stones: this.positions[this.place], last, candidates, title});
  }

  showLine() {
    const {points, from, shown} = this.line;
    let stones = this.positions[from], colour = this.data.positions[from].turn;
    const labels = new Map();
    points.slice(0, shown).forEach((point, index) => {
      stones = this.played(stones, colour, point);
      colour = 3 - colour;
      if (point !== PASS) labels.set(point, String(index + 1));
    });
    for (const point of [...labels.keys()]) if (!stones[point]) labels.delete(point);
    const text = from < this.place ? words.inLine : words.inContinuation;
    const number = this.data.before + this.place;
    const title = fill(text, {number, step: shown, count: points.length, vertex: this.vertex(points[shown - 1])});
    this.find("place").textContent = title;
    this.board.draw({stones, labels, title});
  }

  heading(move) {
    const number = this.data.before + this.place;
    if (!move) return number ? fill(words.afterMove, {number}) : words.start;
    return fill(words.move, {number, colour: colourName(move.colour), vertex: this.vertex(move.point)});
  }

  // What is said about the position, apart from the board and the heading: it stays while a line is played out.
  showMove() {
    const move = this.data.moves[this.place - 1];
    this.slider.value = this.place;
    this.slider.setAttribute("aria-valuetext", this.heading(move));
    this.find("verdict").textContent = move?.verdict || "";
    this.find("worth").textContent = this.data.positions[this.place].value;
    this.find("comment").textContent = this.data.comments[this.place] || "";
    const reasons = move ? move.reasons : [];
    this.find("reasons").replaceChildren(...reasons.map((reason) => {
      const item = htmlElement("li", "", reason.text + " ");
      if (reason.line.length) item.append(this.playButton(reason.line, this.place - 1, this.lineText(reason.line)));
      return item;
    }));
    const table = htmlElement("table"), head = htmlElement("tr");
    for (const column of ["lead", "winrate", "visits", "line"]) head.append(htmlElement("th", column, words[column]));
    table.append(head);
    if (move) this.addLines(table, words.alternatives, this.place - 1, Infinity);
    this.addLines(table, words.continuation, this.place, 1);
    this.find("lines").replaceChildren(...(table.rows.length > 1 ? [table] : []));
    for (const cursor of this.viewer.querySelectorAll(".cursor")) {
      for (const side of ["x1", "x2"]) cursor.setAttribute(side, `${100 * this.place / Math.max(1, this.end)}%`);
    }
  }

  // Adds rows with the lines of a position.
  addLines(table, title, from, most) {
    const candidates = this.data.positions[from].candidates.slice(0, most);
    if (!candidates.length) return;
    const group = htmlElement("th", "", title);
    group.colSpan = 4;
    group.scope = "rowgroup";
    const body = htmlElement("tbody");
    body.append(htmlElement("tr"));
    body.rows[0].append(group);
    for (const candidate of candidates) {
      const row = htmlElement("tr"), cell = htmlElement("td", "line");
      const winrate = candidate.turn === BLACK ? candidate.winrate : 100 - candidate.winrate;
      const values = [candidate.lead, `${winrate}%`, candidate.visits];
      row.append(...values.map((value) => htmlElement("td", "", value)), cell);
      cell.append(this.playButton(candidate.line, from, this.lineText(candidate.line)));
      body.append(row);
    }
    table.append(body);
  }

  playButton(points, from, text) {
    const button = htmlElement("button", "play", text);
    button.type = "button";
    button.points = points;
    button.setAttribute("aria-label", fill(words.playLine, {line: text}));
    button.addEventListener("click", () => this.play(points, from));
    return button;
  }

  listen() {
    const on = (name, act) => this.find(name).addEventListener("click", act);
    on("first", () => this.go(0));
    on("back", () => this.step(-1));
    on("forward", () => this.step(1));
    on("last", () => this.go(this.end));
    on("previous-mistake", () => this.toMistake(-1));
    on("next-mistake", () => this.toMistake(1));
    on("leave", () => this.go(this.place));
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    for (const graph of this.viewer.querySelectorAll("svg.graph")) {
      graph.addEventListener("click", (event) => {
        if (event.target.closest("a")) return;
        const box = graph.getBoundingClientRect();
        this.go(Math.round((event.clientX - box.left) / box.width * this.end));
      });
    }
    this.candidates.addEventListener("click", (event) => {
      const disc = event.target.closest(".candidate");
      if (disc) this.playInstead(Number(disc.dataset.index));
    });
  }
}

// One game, or the index, is shown at a time: the one that the address names.
const games = new Map();
const sections = [...document.querySelectorAll("main > section")];
let current = null;

function route() {
  const target = document.getElementById(location.hash.slice(1));
  const shown = target && target.closest("main > section") || sections[0];
  for (const section of sections) section.hidden = section !== shown;
  if (shown.matches(".game") && !games.has(shown)) games.set(shown, new Game(shown));
  current = games.get(shown) || null;
  if (target && target !== shown) target.scrollIntoView();
}

function followMoveLink(event) {
  const link = event.target.closest("a[data-move]");
  if (!link) return;
  event.preventDefault();
  const isElsewhere = !link.closest(".viewer");
  const section = document.querySelector(link.getAttribute("href").match(/^#game-\d+/)[0]);
  if (section.hidden) location.hash = section.id;
  route();
  current = games.get(section);
  current.go(Number(link.dataset.move) - current.data.before);
  if (link.dataset.line) current.playInstead(Number(link.dataset.line));
  if (!isElsewhere) return;
  current.viewer.scrollIntoView();
  current.find("forward").focus({preventScroll: true});
}

const KEYS = {
  ArrowLeft: (game) => game.step(-1),
  ArrowRight: (game) => game.step(1),
  n: (game) => game.toMistake(1),
  p: (game) => game.toMistake(-1),
  Escape: (game) => game.go(game.place),
};
// These scroll the page, unless the focus is at the board.
const KEYS_OF_VIEWER = {Home: (game) => game.go(0), End: (game) => game.go(game.end)};

function pressKey(event) {
  if (!current || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = KEYS[event.key] || event.target.closest(".viewer") && KEYS_OF_VIEWER[event.key];
  if (act) act(current);
  else if (/^[1-6]$/.test(event.key)) current.playInstead(Number(event.key) - 1);
  else return;
  event.preventDefault();
}

document.documentElement.classList.add("scripted");
document.addEventListener("click", followMoveLink);
document.addEventListener("keydown", pressKey);
window.addEventListener("hashchange", route);
route();
})();
