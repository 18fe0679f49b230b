// The page: shows the state that the program sends, and sends it what the user asks for.
import {Board} from "./board.js";
import {Careful} from "./careful.js";
import {Clocks} from "./clocks.js";
import {Count} from "./count.js";
import {button, fillList, find, onPointing, remember, store, stored} from "./elements.js";
import {showFace} from "./faces.js";
import {FirstSteps} from "./first_steps.js";
import {Graph} from "./graph.js";
import {Life} from "./life.js";
import {Mistakes} from "./mistakes.js";
import {MyGames, Share} from "./my_games.js";
import {NewGame, rankName, rulesName} from "./new_game.js";
import {Problems, problemName, problemText} from "./problems.js";
import {Sound} from "./sound.js";
import {Strength, ratingText} from "./strength.js";
import {Study, treeNumber} from "./study.js";
import {Why} from "./why.js";
import {begin, called, choose, date, moveName, number, percent, say, sentence, text} from "./words.js";

const LAYERS = ["candidates", "losses", "ownership", "policy"];
const ON_STONES = ["nothing", "numbers", "losses"];
const THEMES = ["system", "light", "dark"];
const VISITS = [100, 500, 2000, 10000, 50000];
const USUAL_VISITS = 500;
// Bytes: 10,000 problems have 2 MB and more, and large records 200 kB; the program has limits too.
const LARGEST_FILES = 8 << 20, LARGEST_TEXT = 2 << 20;
const FIRST_WAIT = 300, LONGEST_WAIT = 5000;  // milliseconds between attempts to connect
const STEP_PIXELS = 50;  // half of what a notch of most wheels tells
const words = ["empty", "black", "white"];

let socket, connecting, wait = FIRST_WAIT;
let state = null;
let isNew;  // whether the connection has not sent a state yet
let announced = "";
let line = null;  // the message that asks for the line on the board, of a candidate or of a reason
let resigned = null;  // the position shown when the user was asked whether to resign
let refusal = null;  // why the last thing that the user asked for was refused

const board = new Board(find("#board"), {
  onPoint: (vertex) => firstSteps.use(vertex) || life.use(vertex) || why.use(vertex) || study.use(vertex) || play(vertex),
  onCursor: (vertex, stone) => announce(pointText(vertex, stone)),
  onHover: (vertex) => showLine(candidate(vertex ?? board.picked)),
  onPick: (vertex) => {
    showLine(candidate(vertex));
    careful.show();
  },
});
const careful = new Careful(board, (vertex) => play(vertex));
const count = new Count(send);
const graph = new Graph(find("#graph"), (place) => go(place));
const study = new Study(send, transmit);
const mistakes = new Mistakes(send, {
  onNode: (node) => send({type: "go", ...study.shown, node}),
  onRetry: (node) => send({type: "retry", ...study.shown, node}),
  onLine: (index) => showLine(index === null ? null : {type: "reason", number: index}),
  onStage: announce,
});
// What the board belongs to while something is asked about the position; undefined if nothing is.
const asking = () => [life, why].find((each) => each.isOpen);
const ofQuestions = {
  shown: () => study.shown,
  onChange: () => {
    line = asking()?.line || null;
    if (line) transmit(line);
    else if (state) draw();
    if (!state) return;
    showStatus();
    showControls();
  },
  announce: (said) => {
    announce(said);
    showHeader();
  },
};
const life = new Life(send, ofQuestions);
const why = new Why(send, ofQuestions);
const problems = new Problems(send);
const myGames = new MyGames(send, resultText), share = new Share();
const firstSteps = new FirstSteps(send, board);
const sound = new Sound(find("#sound"));
const strength = new Strength(send, show);
const newGame = new NewGame(find("#new-dialog"), send);
const clocks = new Clocks(document.querySelectorAll(".player"), find("#last-seconds"), () => sound.tick());
study.onTool = () => {
  if (!state) return;
  draw();
  showComment();
};
const languages = Object.entries(await begin()), languageLists = document.querySelectorAll("#language, [name=language]");
fillForm();
showTheme();
connect();

// Objects go both ways. A lost connection is opened again.
function connect() {
  clearTimeout(connecting);
  const opened = socket = new WebSocket(`ws://${location.host}/socket`);
  socket.addEventListener("open", () => {
    wait = FIRST_WAIT;
    isNew = true;
    showConnection(true);
  });
  socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
  socket.addEventListener("close", () => {
    if (opened !== socket) return;
    showConnection(false);
    showRefusal();
    connecting = setTimeout(connect, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT);
  });
}

// Tries at once what would be tried later.
function connectAgain() {
  if (socket.readyState === WebSocket.CLOSED) connect();
}
window.addEventListener("online", connectAgain);
document.addEventListener("visibilitychange", () => document.hidden || connectAgain());

// Returns whether the message could be sent.
function transmit(message) {
  if (socket.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(message));
  return true;
}

// The state has a document for each part of the program. A new connection gets them whole, and then what has changed.
function receive(message) {
  if (message.type === "state") {
    const before = state;
    state = isNew ? {} : {...state};
    isNew = false;
    for (const [name, changed] of Object.entries(message.parts)) state[name] = {...state[name], ...changed};
    show(before);
  } else if (message.type === "line") {
    if (line && message.of === nameOf(line)) draw(message);
  } else if (message.type === "tree") {
    study.loadTree(message);
  } else if (message.type === "comment") {
    study.commentSaved(message);
  } else if (message.type === "games") {
    myGames.show(message);
  } else if (message.type === "error") {
    board.refused();
    refuse(message.phrase ? text(message.phrase.name, message.phrase.values) : message.text);
  }
}

// What the user does.

// Returns whether there is a connection, or the user is asked first.
function send(message) {
  forgetRefusal();
  if (strength.holds(message)) return true;
  if (message.type === "teach") store("teach", message.on ? "on" : "off");
  const isSent = transmit(message);
  if (!isSent) {
    board.refused();
    refuse(text("notSent"));
  }
  return isSent;
}

function play(vertex) {
  if (state.play.isCounted) send({type: "dead", point: vertex});
  else if (state.play.isOver) refuse(text("error.gameOver"));
  else study.edit({type: "play", point: vertex});
}

function go(place) {
  if (place >= 0 && place <= state.position.moves) send({type: "go", move: place});
}

function analyse(isOn) { send({type: "analyse", visits: isOn ? Number(find("#analysis-visits").value) : null}); }

// Several steps may be taken before the first one is answered.
const steps = {
  Home: () => go(0),
  ArrowLeft: () => life.step(-1) || why.step(-1) || send({type: "go", step: -1}),
  ArrowRight: () => life.step(1) || why.step(1) || send({type: "go", step: 1}),
  End: () => go(state.position.moves),
};
find("#previous").addEventListener("click", steps.ArrowLeft);
find("#next").addEventListener("click", steps.ArrowRight);
find("#place").addEventListener("input", ({target}) => why.goTo(Number(target.value)) || go(Number(target.value)));
let turned = 0;  // pixels of the wheel over the board of a review, a step for each STEP_PIXELS
find("#board").addEventListener("wheel", (event) => {
  if (document.body.dataset.face !== "review" || event.ctrlKey) return;
  event.preventDefault();
  turned += event.deltaY;
  if (Math.abs(turned) < STEP_PIXELS) return;
  steps[turned < 0 ? "ArrowLeft" : "ArrowRight"]();
  turned = 0;
}, {passive: false});
// The arrow keys do not come this far from a board that they move the cursor of.
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea, dialog") || firstSteps.isOpen || event.ctrlKey || event.altKey || event.metaKey) return;
  const step = {ArrowUp: -1, ArrowDown: 1}[event.key];
  if (event.key === "Escape") asking()?.leave();
  if (event.key in steps) steps[event.key]();
  else if (!step || !state || !study.step(step)) return;
  event.preventDefault();  // which would scroll the page
});
find("#analyse").addEventListener("click", () => analyse(state.search.analysisVisits === null));
find("#analysis-visits").addEventListener("change", () => state.search.analysisVisits === null || analyse(true));
find("#teach").addEventListener("change", ({target}) => send({type: "teach", on: target.checked}));
remember(find("#opinions"), "opinions", () => state && show());
remember(find("#coordinates"), "coordinates", () => {});  // page.css hides them
remember(find("#on-stones"), "on stones", () => state && showAgain(state));
remember(find("#theme"), "theme", showTheme);
find("#layer").addEventListener("change", (event) => send({type: "layer", layer: event.target.value}));
find("#network").addEventListener("change", (event) => send({type: "network", network: event.target.value}));
for (const kind of ["undo", "hint", "score", "stop"]) find(`#${kind}`).addEventListener("click", () => send({type: kind}));
find("#pass").addEventListener("click", () => play("pass"));
find("#resign").addEventListener("click", () => {
  resigned = study.shown;
  find("#resign-dialog").showModal();
});
find("#keep").addEventListener("click", () => study.edit({type: "keep"}));
find("#really-resign").addEventListener("click", () => {
  find("#resign-dialog").close();
  send({type: "resign", ...resigned});
});
find("#new").addEventListener("click", () => state && newGame.open(state));
find("#back").addEventListener("click", () => send({type: "back"}));
find("#branch").addEventListener("click", () => newGame.open(state, study.shown));
find("#open").addEventListener("click", () => {
  find("#open-file").value = find("#open-text").value = "";
  showNotice("#open-problem", "");
  find("#open-dialog").showModal();
});
find("#open-now").addEventListener("click", () => {
  const files = [...find("#open-file").files], pasted = find("#open-text").value;
  if (!files.length && !pasted.trim()) {
    showNotice("#open-problem", text("nothingToOpen"));
    return find("#open-file").focus();
  }
  find("#open-file").value = "";  // if it is refused, what is pasted then counts
  if (files.length) openFiles(files);
  else openText(pasted);
});
window.addEventListener("pagehide", () => study.saveComment());
document.addEventListener("paste", (event) => {
  const pasted = event.clipboardData.getData("text/plain");
  if (!event.target.closest("input, textarea") && /\(\s*;/.test(pasted)) openText(pasted);
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;  // text may be dragged into a field
    event.preventDefault();
    document.body.classList.toggle("dropping", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) openFiles([...event.dataTransfer.files]);
  });
}

// The program finds out the character set of a file, as it does for those that it reads itself.
async function openFiles(files) {
  const contents = [];
  if (files.reduce((size, file) => size + file.size, 0) > LARGEST_FILES) return refuse(text("tooLarge", {file: isolated(files[0].name)}));
  for (const file of files) {
    const read = await inBase64(file);
    if (read === null) return refuse(text("unreadable", {file: isolated(file.name)}));
    contents.push([file.name, read]);
  }
  openRecord({type: "open", files: contents});
}

// Returns the content of a file; null for a folder, or a file that is gone or may not be read.
function inBase64(file) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => resolve(null));
    reader.readAsDataURL(file);
  });
}

// The program would close the connection at a message that is too long.
function openText(sgf) {
  const message = {type: "open", sgf};
  if (new TextEncoder().encode(JSON.stringify(message)).length <= LARGEST_TEXT) openRecord(message);
  else refuse(text("tooLarge", {file: text("pastedText")}));
}

function openRecord(message) {
  study.saveComment();  // a file may be dropped while a comment is being typed
  showNotice("#open-problem", "");
  send(message);
}

// The dialog that a record is opened with is closed by the record, and until then says why there is none.
function refuse(why) {
  if (find("#open-dialog").open) return showNotice("#open-problem", why);
  refusal = why;
  showProblem();
  showHeader();
}

for (const list of languageLists) {
  list.addEventListener("change", async () => {
    await choose(list.value);
    fillForm();
    show();
  });
}
for (const button of document.querySelectorAll("dialog .cancel")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

function fillForm() {
  for (const list of languageLists) list.replaceChildren(...languages.map(([code, name]) => new Option(name, code, false, code === document.documentElement.lang)));
  study.fill();
  mistakes.fill();
  newGame.fill();
  strength.fill();
  fillList(find("#layer"), LAYERS.map((name) => [name, text(`layer-${name}`)]));
  fillList(find("#on-stones"), ON_STONES.map((name) => [name, text(`stones-${name}`)]), stored("on stones") || ON_STONES[0]);
  fillList(find("#theme"), THEMES.map((name) => [name, text(`theme-${name}`)]), stored("theme") || THEMES[0]);
  fillList(find("#analysis-visits"), VISITS.map((count) => [count, number(count)]), USUAL_VISITS);
}

function showTheme() { document.documentElement.dataset.theme = find("#theme").value; }

// What the user sees, and hears.

function pointText(vertex, stone) {
  const isDead = state.play.isCounted && state.play.dead.includes(vertex);
  return [vertex, text(words[stone]), ...(isDead ? [text("dead")] : [])].join(", ");
}

function showControls() {
  const face = faceOf(state);
  showSteps(face);
  showFace(face, asking() === why);
}

// The steps, of the game or of a line, stand where they stood, at the ends too, where the focus goes to the way back.
function showSteps(face) {
  const isLine = asking() === why, focused = document.activeElement;
  const {place, moves} = isLine ? {place: why.count, moves: why.moves.length} : state.position;
  find("#steps").hidden = moves === 0 || life.isOpen;
  find("#previous").disabled = place === 0 || (face === "play" && !isLine && place === moves);
  find("#next").disabled = place === moves;
  const slider = find("#place");
  slider.max = moves;
  if (!slider.matches(":active")) slider.value = place;
  slider.setAttribute("aria-valuetext", isLine ? number(place) : earlierText());
  if (focused.disabled && focused.closest("#steps")) (place === 0 ? find("#next") : find("#previous")).focus();
}

// Which of its faces the page shows. While a game is reviewed that goes on, its last position is there to play on.
function faceOf({problems: {exercise}, review: {job}, play, game, position: {place, moves}}) {
  if (exercise) return "problem";
  if (play.isOver || game.isRecord || (job && place < moves)) return "review";
  return moves ? "play" : "begin";
}

// before: the state before this one, if this is a new one.
function show(before = state) {
  if (!state) return;
  const {position, play, game, now, search} = state;
  if (before && treeNumber(before.position.tree) !== treeNumber(position.tree)) find("#open-dialog").close();
  firstSteps.show(state);
  life.show(state);
  why.show(state);
  if (!before || before.position.node !== position.node || before.position.tree !== position.tree) board.pick(null);
  showAgain(before);
  const isTheirs = play.isYourTurn, busy = isBackground() ? null : now.task && now.task.kind;
  find("#pass").disabled = !isTheirs;
  find("#hint").disabled = find("#score").disabled = !isTheirs || busy !== null;
  find("#undo").disabled = !play.canUndo;
  find("#stop").disabled = busy === null || busy === "count";
  find("#stop").textContent = text(["hint", "life", "score", "solve", "why"].includes(busy) ? "stop" : "moveNow");
  find("#analyse").setAttribute("aria-pressed", search.analysisVisits !== null);
  find("#curve").hidden = !state.graph.svg || !hasOpinions();
  if (state.graph.svg) graph.show(state.graph, state.position);
  if (stored("teach") === "on" && !search.isTeaching && !state.rating?.ends.includes("teach") && before?.position.tree !== position.tree) {
    transmit({type: "teach", on: true});
  }
  study.show(state);
  mistakes.show(state);
  share.show(state);
  problems.show(state.problems, Boolean(state.solving.life));
  strength.show(state);
  sound.follow(state.position);
  showSettings();
  showLoss();
  count.show(play);
  showComment();
  find("#new").dataset.sight = play.isOver && position.place === position.moves ? "review" : "begin";
  find("#branch").dataset.sight = mistakes.isRunning ? "play" : "play review";  // one row has room for that which ends it
  find("#back").hidden = !state.review.hasAside;
  find("#branch").hidden = position.place === position.moves && game.humans.length < 2 && !play.isOver;
  say(find("#board-help"), play.isOver ? "" : text("boardHelp"));
  find("#resign").disabled = play.result !== null || position.moves === 0 || position.place < position.moves;
  showPlayers();
  showStatus();
  showReport();
  const komi = number(game.komi, game.komi % 1 ? 1 : 0), rules = rulesName(game.rules);
  const facts = [sentence(text("game.rules", {komi, rules}))], [moves] = position.moveNumbers;
  if (moves) facts.push(text("error.move", {number: number(moves)}));
  if (game.handicap) facts.push(`${text("handicap")}: ${number(game.handicap)}`);
  find("#facts").textContent = facts.join(" · ");
  find("#recorded").textContent = game.recordedResult ? text("recordedResult", {result: resultText(game.recordedResult)}) : "";
  find("#file").textContent = now.file ? text("savedAs", {file: isolated(now.file)}) : "";
  // How a rank is played, and that it is saved to a new file, stays visible throughout the game.
  const notes = game.rankNotes.map(({name, values}) => text(name, values));
  showNotice("#rank-note", [ratingText(state), ...notes].filter(Boolean).join(" · "));
  const remarks = game.remarks.map(({name, values}) => text(name, values));
  showNotice("#notice", [...remarks, now.notice].filter(Boolean).join("; "));
  showProblem();
  showControls();
}

function showNotice(selector, said) {
  say(find(selector), sentence(said));
  find(selector).hidden = !said;
}

// Names of files and players are in any language: the isolates keep their parts in order within the page's, Arabic too.
const isolated = (name) => name && `\u2068${name}\u2069`;

// Whether what the engine does leaves the board to the player.
function isBackground() { return state.now.task !== null && ["analysis", "preparation"].includes(state.now.task.kind); }

// Whether Undo takes the move back changes while the user steps; a screen reader hears of the mistake once. What is asked
// about it, or listed, is said next to the board.
function showLoss() {
  const {loss} = state.search;
  const values = loss && {move: moveName(loss.move), count: loss.points, best: moveName(loss.best)};
  say(find("#lost"), loss ? sentence(text("lost", values)) : "");
  find("#undo-takes-back").hidden = !loss?.canUndo;
  find("#loss").hidden = !loss || Boolean(asking() || mistakes.statusText(state.position.node));
}

// While the comment can be edited it stands in the field for that.
function showComment() {
  find("#comment").textContent = state.position.comment;
  find("#comment").hidden = !state.position.comment || find("#edit").open;
}

function showSettings() {
  const {game, search} = state;
  find("#teach").checked = search.isTeaching;
  find("#layer").value = search.layer;
  const names = game.networks.includes(game.network) ? game.networks : [game.network, ...game.networks];
  const labels = {auto: text("network-auto"), none: text("network-none")};
  find("#network").value = game.network;
  fillList(find("#network"), names.map((name) => [name, labels[name] || name]), game.network);
}

// other: other stones, and what is drawn with them.
function draw(other = {}) {
  if (firstSteps.isOpen) return firstSteps.draw();
  const {position, game: {board: svg, width, height}} = state, shown = {...position, ...other};
  const colour = state.play.isYourTurn && study.tool === "play" && !asking() ? position.toMove : null;
  const isPreview = shown.stones.join() !== position.stones.join(), last = isPreview ? null : position.lastMove?.vertex;
  const written = {numbers: position.numbers, losses: hasOpinions() ? state.search.losses : {}}[find("#on-stones").value];
  const drawn = {...shown.drawn, labels: {...(isPreview ? {} : written), ...shown.drawn.labels}};
  const following = faceOf(state) === "review" && !isPreview && !life.isOpen ? position.next : [];
  document.body.classList.toggle("elsewhere", Boolean(isPreview && asking()));  // page.css hides the values of the position
  board.show(svg, {width, height, stones: shown.stones, drawn, last, title: boardLabel(), colour, isPreview, following, part: state.problems.exercise && position.tree.split(".")[0]});
  careful.show();
}

function showPlayers() {
  const {position, play, game} = state;
  const rank = rankName(game.rank);
  for (const player of document.querySelectorAll(".player")) {
    const colour = player.dataset.colour;
    const isHuman = game.humans.includes(colour);
    const known = [called(game.names[colour]), isolated(game.ranks[colour])].filter(Boolean).join(" · ");
    const person = game.humans.length === 2 ? known || text("human") : text("you");
    player.querySelector(".name").textContent = sentence(isHuman ? person : text("engineAt", {rank}));
    player.querySelector(".stone").setAttribute("aria-label", text(colour));
    player.querySelector(".captures").textContent = text("captured", {stones: number(position.captures[colour])});
    player.querySelector(".passed").hidden = !(position.lastMove?.vertex === "pass" && position.lastMove.colour === colour);
    player.classList.toggle("turn", play.result === null && position.toMove === colour);
  }
  clocks.show(state);
}

function showStatus() {
  const now = statusText();
  say(find("#status"), now);
  say(find("#heading"), state.problems.exercise ? problemName(state.problems) : state.game.title || text("title"));
  document.title = `${now} · ${text("title")}`;
  const said = [isAfterPass() ? "" : lastMoveText(), now].filter(Boolean).join(". ");
  if (said !== announced && !asking()) announce(announced = said);  // which announce their own answers
  find("#board").setAttribute("aria-label", boardLabel());
}

function lastMoveText() {
  const last = state.position.lastMove;
  return last && text(last.vertex === "pass" ? "passes" : "plays", {colour: text(last.colour), move: last.vertex});
}

// Whether one more pass ends the game.
function isAfterPass() { return state.play.isYourTurn && state.position.passes === 1 && !state.game.isRecord; }

function boardLabel() {
  if (firstSteps.isOpen) return firstSteps.label;
  return text("boardLabel", {size: `${state.game.width} × ${state.game.height}`, last: lastMoveText() || text("noMoves")});
}

function statusText() {
  const {position, play, now} = state, answer = asking()?.statusText();
  const colour = text(position.toMove);
  if (answer) return answer;
  if (play.result && position.place === position.moves) return resultText(play.result);
  if (!now.isReady && now.task) return text("compiling");
  if (state.problems.exercise && !now.task) return problemText(state.problems.exercise);
  const listed = mistakes.statusText(position.node);
  if (listed) return listed;
  if (position.place < position.moves) return earlierText();
  if (now.task && !isBackground()) return text({move: "thinking", judgement: "thinking", count: "counting", hint: "searching", life: "searching", score: "searching", why: "searching", solve: problems.isCompiling ? "compiling" : "solving"}[now.task.kind], {colour});
  if (isAfterPass()) return text("passTooToEnd", {colour: text(position.lastMove.colour)});
  // After a search that failed it may be the engine's turn.
  if (!play.isYourTurn || state.game.humans.length > 1) return text("toMove", {colour});
  return position.followsPass ? text("playsOn", {colour: text(position.lastMove.colour)}) : text("yourTurn", {colour});
}

function earlierText() {
  const [place, moves] = state.position.moveNumbers;
  return text(place ? "earlier" : "beforeFirst", {place: number(place), moves: number(moves)});
}

// A result that the program cannot read is shown as its record writes it.
function resultText({winner, by, points, text: written}) {
  if (by === "other") return isolated(written);
  if (winner === null) return text({draw: "draw", void: "void"}[by]);
  const names = {resignation: "winsByResignation", time: "winsOnTime", forfeit: "winsByForfeit", points: "winsByPoints"};
  const name = points === 1 ? "winsByOnePoint" : names[by] || "wins";
  return text(name, {colour: text(winner), points: number(points, (String(points).split(".")[1] || "").length)});
}

// Whether what the engine thinks is shown unasked: in a game against it, which it would give away, only if the user wants.
function hasOpinions() {
  const isAsked = find("#opinions").checked || state.search.analysisVisits !== null || state.review.job !== null;
  return isAsked || state.game.isStudy || state.play.isOver;
}

function showReport() {
  const isLatest = state.position.place === state.position.moves, report = state.search.report, opinion = report || (isLatest && hasOpinions() ? state.play.opinion : null);
  find("#report").hidden = !opinion;
  if (!opinion) return;
  const points = Math.abs(opinion.lead);
  const lead = points < 0.5 ? text("close") : text("leads", {colour: text(opinion.leader), points: number(points, 1)});
  const winrate = text("winRateOf", {colour: text(opinion.toMove), winrate: percent(opinion.winrate)});
  const labels = {hint: "hintIs", score: "estimate", analysis: "analysis"};
  const label = report ? text(labels[report.kind], {move: report.moves.length ? moveName(report.moves[0].move) : ""}) : text("engineThinks");
  find("#opinion").textContent = [sentence(label), lead, winrate, text("trust.visits", {count: Math.round(opinion.visits)})].join(" · ");
  const moves = report ? report.moves : [];
  find("#candidates").hidden = moves.length === 0;
  showCandidates(moves);
}

// Rows stay the same elements, so that neither the focus nor the pointer loses them while an analysis runs.
function showCandidates(moves) {
  const body = find("#candidates tbody");
  while (body.rows.length > moves.length) body.lastElementChild.remove();
  while (body.rows.length < moves.length) body.append(candidateRow());
  moves.forEach((move, index) => {
    const [first, ...others] = body.rows[index].cells, entry = first.firstElementChild;
    entry.dataset.vertex = move.move;
    entry.textContent = moveName(move.move);
    entry.title = move.pv.split(" ").map((vertex) => isolated(moveName(vertex))).join(" ");
    const values = [percent(move.winrate), number(move.lead, 1), number(move.visits)];
    others.forEach((cell, column) => { cell.textContent = values[column]; });
  });
}

function candidateRow() {
  const row = document.createElement("tr"), entry = button("", ({detail}) => {
    const {vertex} = entry.dataset, isTap = isTouched && detail > 0;  // 0: with the keyboard
    if (isTap && vertex !== board.picked) return board.pick(vertex);
    board.pick(null);
    play(vertex);
  });
  let isTouched = false;  // by a finger, which cannot point first
  entry.addEventListener("pointerdown", ({pointerType}) => { isTouched = pointerType !== "mouse"; });
  onPointing(entry, () => showLine(candidate(entry.dataset.vertex)), () => showLine(candidate(board.picked)));
  row.insertCell().append(entry);
  for (let column = 0; column < 3; column++) row.insertCell();
  return row;
}

// Returns the message that asks for the line of a candidate; null if the point is none.
function candidate(vertex) {
  const isOne = state && state.search.report && state.search.report.moves.some(({move}) => move === vertex);
  return isOne ? {type: "line", move: vertex} : null;
}

// What the answer to such a message is called.
function nameOf(asked) {
  if (asked.name) return asked.name;
  if (asked.type === "lines") return ["lines", asked.first, ...asked.moves].join(" ");
  return asked.type === "reason" ? `reason ${asked.number}` : asked.move;
}

function showLine(wanted) {
  if (asking()) return;  // the board shows its lines
  if ((wanted && nameOf(wanted)) === (line && nameOf(line))) return;
  line = wanted;
  if (line) transmit(line);
  else if (state) draw();
}

// After a new state: the line of the same candidate or reason, which may have changed, that of a group, or the position.
function showAgain(before) {
  if (asking() || ["lines", "why-line"].includes(line?.type)) line = asking()?.line || null;
  else if (line) line = line.type === "line" ? candidate(line.move) : before && before.position.node === state.position.node ? line : null;
  if (line) transmit(line);
  else draw();
}

// A refusal stays until the user does something else: an analysis sends new states all the time.
for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, forgetRefusal, {capture: true});

function forgetRefusal() {
  if (!refusal) return;
  refusal = null;
  showProblem();
}

function showProblem() {
  find("#now").classList.toggle("refused", Boolean(refusal));
  showNotice("#problem", refusal || (state && state.now.problem) || "");
}

// Beside a wide board the page may be scrolled so far that its answer to what the user did is out of sight.
function showHeader() {
  const header = find("header");
  if (header.getBoundingClientRect().top < 0) header.scrollIntoView();
}

function showConnection(isOpen) {
  if (isOpen) {
    study.askAgain();
    refusal = null;  // that there was no connection
    showProblem();
  }
  find("#connection").hidden = isOpen;
  clocks.connect(isOpen);
}

// A page without a cookie that the program knows is refused, which a WebSocket does not tell from a lost connection.
async function showRefusal() {
  const answer = await fetch("icon.svg").catch(() => null);
  say(find("#connection"), text(answer?.status === 403 ? "connectionRefused" : "connectionLost"));
}

function announce(said) { find("#announcement").textContent = said; }
