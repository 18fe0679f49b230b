// The page: shows the state that the program sends, and sends what the user asks for.
import {Board} from "./board.js";
import {Connection} from "./connection.js";
import {begin, number, percent, text, use} from "./words.js";

const RULES = ["chinese", "japanese", "korean", "aga", "new-zealand", "tromp-taylor", "ing"];
const HIGHEST_LEVEL = 10;
const CLOCK_STEP = 200;  // milliseconds
const find = (selector) => document.querySelector(selector);
const words = {".": "empty", X: "black", O: "white"};

let state = null;
let received = 0;  // when the state came, for the clock
let announced = "";

const board = new Board(find("#board"), {
  onPoint: (vertex) => play(vertex),
  onCursor: (vertex, stone) => announce(`${vertex}, ${text(words[stone])}`),
  onHover: (vertex) => showLine(vertex),
});
await begin(find("#language"));
fillForm();
const connection = new Connection({onMessage: receive, onChange: (isOpen) => { find("#connection").hidden = isOpen; }});

function receive(message) {
  if (message.type === "state") {
    state = message;
    received = performance.now();
    show();
  } else if (message.type === "line") {
    if (message.move === line) draw(message.board);
  } else if (message.type === "games") {
    showGames(message.games);
  } else if (message.type === "error") {
    board.refused();
    complain(message.text);
  }
}

// What the user does.

function send(message) {
  complain(null);
  if (!connection.send(message)) {
    board.refused();
    complain(text("connectionLost"));
  }
}

function play(vertex) {
  if (state.result) return;
  send({type: "play", point: vertex, after: state.moves});
}

for (const kind of ["undo", "hint", "score", "stop"]) find(`#${kind}`).addEventListener("click", () => send({type: kind}));
find("#pass").addEventListener("click", () => play("pass"));
find("#resign").addEventListener("click", () => find("#resign-dialog").showModal());
find("#really-resign").addEventListener("click", () => {
  find("#resign-dialog").close();
  send({type: "resign"});
});
find("#new").addEventListener("click", () => find("#new-dialog").showModal());
find("#resume").addEventListener("click", () => send({type: "games"}));
find("#language").addEventListener("change", async (event) => {
  await use(event.target.value);
  fillForm();
  show();
});
for (const button of document.querySelectorAll("dialog .cancel")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}
find("#new-dialog form").addEventListener("submit", (event) => {
  event.preventDefault();
  const chosen = Object.fromEntries(new FormData(event.target));
  find("#new-dialog").close();
  send({
    type: "new",
    width: Number(chosen.size),
    height: Number(chosen.size),
    colour: chosen.colour,
    level: chosen.level === "max" ? "max" : Number(chosen.level),
    seconds: Number(chosen.seconds),
    visits: null,
    handicap: Number(chosen.handicap),
    komi: chosen.komi === "" ? null : Number(chosen.komi),
    rules: chosen.rules,
  });
});

function fillForm() {
  const form = find("#new-dialog form");
  const kept = form.level.value ? Object.fromEntries(new FormData(form)) : {level: "3", seconds: 5, handicap: 0, rules: "chinese"};
  const levels = Array.from({length: HIGHEST_LEVEL}, (_, index) => new Option(number(index + 1), index + 1));
  form.level.replaceChildren(...levels, new Option(text("fullStrength"), "max"));
  form.handicap.replaceChildren(...[0, 2, 3, 4, 5, 6, 7, 8, 9].map((stones) => new Option(number(stones), stones)));
  form.rules.replaceChildren(...RULES.map((name) => new Option(text(`rules-${name}`), name)));
  form.komi.placeholder = text("usual");
  for (const [name, value] of Object.entries(kept)) form[name].value = value;
}

function showGames(names) {
  const buttons = names.map((name) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", () => {
      find("#resume-dialog").close();
      send({type: "resume", game: name});
    });
    item.append(button);
    return item;
  });
  const none = document.createElement("li");
  none.textContent = text("noGames");
  find("#games").replaceChildren(...(buttons.length ? buttons : [none]));
  find("#resume-dialog").showModal();
}

// What the user sees.

function show() {
  if (!state) return;
  line = null;
  draw(state.board);
  const isTheirs = state.isYourTurn, busy = state.task && state.task.kind;
  find("#pass").disabled = !isTheirs;
  find("#hint").disabled = find("#score").disabled = !isTheirs || busy !== null;
  find("#undo").disabled = state.moves === 0;
  find("#stop").disabled = busy === null || busy === "count";
  find("#stop").textContent = text(busy === "hint" || busy === "score" ? "stop" : "moveNow");
  find("#resign").disabled = state.result !== null || state.moves === 0;
  showPlayers();
  showStatus();
  showReport();
  const rules = RULES.includes(state.rules) ? text(`rules-${state.rules}`) : state.rules;
  find("#facts").textContent = text("facts", {komi: number(state.komi, state.komi % 1 ? 1 : 0), rules, moves: number(state.moves)});
  find("#file").textContent = state.file ? text("savedAs", {file: state.file}) : "";
  complain(state.problem);
}

function draw(svg) {
  board.show(svg, {...state, colour: state.isYourTurn && svg === state.board ? state.toMove : null});
}

function showPlayers() {
  const level = state.level === "max" ? text("fullStrength") : text("levelNumber", {level: number(state.level)});
  for (const player of document.querySelectorAll(".player")) {
    const colour = player.dataset.colour;
    const isHuman = state.humans.includes(colour);
    const name = isHuman ? text(state.humans.length === 2 ? "human" : "you") : text("engineAt", {level});
    player.querySelector(".name").textContent = `${text(colour)} · ${name}`;
    player.querySelector(".captures").textContent = text("captured", {stones: number(state.captures[colour])});
    player.classList.toggle("turn", state.result === null && state.toMove === colour);
  }
  showClock();
}

function showClock() {
  const thinking = state && state.task && state.task.kind === "move";
  for (const player of document.querySelectorAll(".player")) {
    const isThinking = thinking && player.dataset.colour === state.toMove;
    const seconds = isThinking ? state.task.seconds + (performance.now() - received) / 1000 : 0;
    player.querySelector(".clock").textContent = isThinking ? text("seconds", {seconds: number(seconds, 1)}) : "";
  }
}
setInterval(showClock, CLOCK_STEP);

function showStatus() {
  const now = statusText(), last = state.lastMove;
  find("#status").textContent = now;
  const move = last && text(last.vertex === "pass" ? "passes" : "plays", {colour: text(last.colour), move: last.vertex});
  const said = [move, now].filter(Boolean).join(". ");
  if (said !== announced) announce(announced = said);
  find("#board").setAttribute("aria-label", text("boardLabel", {size: `${state.width} × ${state.height}`, last: move || text("noMoves")}));
}

function statusText() {
  const colour = text(state.toMove);
  if (state.result) return resultText(state.result);
  if (!state.isReady && state.task) return text("compiling");
  if (state.task) return text({move: "thinking", count: "counting", hint: "searching", score: "searching"}[state.task.kind], {colour});
  return state.humans.length === 2 ? text("toMove", {colour}) : text("yourTurn", {colour});
}

function resultText({winner, by, points}) {
  if (by === "draw") return text("draw");
  return text(by === "resignation" ? "winsByResignation" : "winsByPoints", {colour: text(winner), points: number(points, points % 1 ? 1 : 0)});
}

function showReport() {
  const report = state.report, opinion = report || state.opinion;
  find("#report").hidden = !opinion;
  if (!opinion) return;
  const points = Math.abs(opinion.lead);
  const lead = points < 0.5 ? text("close") : text("leads", {colour: text(opinion.leader), points: number(points, 1)});
  const winrate = text("winRateOf", {colour: text(opinion.toMove), winrate: percent(opinion.winrate)});
  const label = report ? text(report.kind === "hint" ? "hintIs" : "estimate", {move: report.moves.length ? report.moves[0].vertex : ""}) : text("engineThinks");
  find("#opinion").textContent = [label, lead, winrate, text("visitsDone", {visits: number(opinion.visits)})].join(" · ");
  find("#candidates").hidden = !report;
  find("#candidates tbody").replaceChildren(...(report ? report.moves.map(candidateRow) : []));
}

function candidateRow(move) {
  const row = document.createElement("tr"), button = document.createElement("button");
  button.type = "button";
  button.textContent = move.vertex;
  button.title = move.line.join(" ");
  for (const event of ["focus", "pointerenter"]) button.addEventListener(event, () => showLine(move.vertex));
  for (const event of ["blur", "pointerleave"]) button.addEventListener(event, () => showLine(null));
  button.addEventListener("click", () => play(move.vertex));
  row.insertCell().append(button);
  for (const value of [percent(move.winrate), number(move.lead, 1), number(move.visits)]) row.insertCell().textContent = value;
  return row;
}

let line = null;  // the candidate whose line is on the board

function showLine(vertex) {
  const moves = state && state.report ? state.report.moves : [];
  const wanted = moves.some((move) => move.vertex === vertex) ? vertex : null;
  if (wanted === line) return;
  line = wanted;
  if (line) connection.send({type: "line", move: line});
  else draw(state.board);
}

function complain(problem) {
  find("#problem").textContent = problem || "";
  find("#problem").hidden = !problem;
}

function announce(said) { find("#announcement").textContent = said; }
