// Problems: what is sought, whether the move that was tried is right, and when it comes again.
import {find} from "./elements.js";
import {date, fromToday, moveName, number, say, sentence, text} from "./words.js";

export class Problems {
  constructor(send) {
    const go = (step) => () => send({type: "problem", place: this.collection.place + step});
    for (const [id, step] of [["problem-before", -1], ["problem-after", 1], ["problem-again", 0]]) find(`#${id}`).addEventListener("click", go(step));
    find("#problem-number").addEventListener("change", ({target}) => {
      const place = Math.min(Math.max(Math.round(target.value) || 1, 1), this.collection.count) - 1;
      send({type: "problem", place});
    });
    for (const type of ["practise", "solution", "forget", "problem-record"]) find(`#${type}`).addEventListener("click", () => send({type}));
  }

  // Whether the solver is not ready to read yet.
  get isCompiling() {
    const {exercise} = this;
    return Boolean(exercise && !exercise.isRead && !exercise.group);
  }

  // hasLines: whether the lines of the solver are shown.
  show({coming, exercise, kept, collection}, hasLines) {
    const {place, count} = collection;
    Object.assign(this, {exercise, collection});
    find("#practise").hidden = coming.due === 0;
    find("#practise").textContent = text("dueToday", {count: number(coming.due)});
    find("#keep").hidden = kept === null;
    find("#keep").setAttribute("aria-pressed", Boolean(kept));
    find("#keep").textContent = text(kept ? "kept" : "keep");
    say(find("#boxes-problem"), coming.problem);
    find("#boxes-problem").hidden = !coming.problem;
    find("#problem-place").hidden = count < 2;
    find("main").classList.toggle("asked", isAsked(exercise));
    find("#problem-count").textContent = text("ofProblems", {count: number(count)});
    if (document.activeElement !== find("#problem-number")) find("#problem-number").value = place + 1;
    find("#problem-number").max = count;
    find("#problem-before").hidden = !count || place === 0;
    find("#problem-after").hidden = !count || place === count - 1;
    const isWrong = exercise?.verdict?.isRight === false && !exercise.given;
    find("#problem-again").classList.toggle("primary", isWrong);
    find("#problem-after").classList.toggle("primary", Boolean(exercise && !isAsked(exercise) && !isWrong));
    find("#problem-again").hidden = !count || isAsked(exercise);
    for (const id of ["solution", "problem-record"]) find(`#${id}`).hidden = !exercise;
    find("#forget").hidden = !exercise || !exercise.due;
    say(find("#verdict"), exercise ? noteText(exercise, hasLines) : "");
    find("#verdict").hidden = !find("#verdict").textContent;
    find("#verdict").dataset.right = exercise?.verdict?.isRight ?? "";
  }
}

// Whether an answer is expected, which a hint would give away.
function isAsked(exercise) {
  return Boolean(exercise && exercise.result === null && !exercise.given && (!exercise.isRead || exercise.goal || exercise.missed));
}

// A mistake of a game of the reader's own has the day of the game and the number of the move as its name; what has no
// name, such as a problem that was pasted, is called by its place.
export function problemName({exercise: {name, game}, collection: {place}}) {
  if (game) return text("ownProblem", {day: date(game.day), number: number(game.number)});
  return name ? `\u2068${name}\u2069` : text("problemNamed", {number: number(place + 1)});
}

// The sentence of a problem: whether the move that was tried is right, or what is sought.
export function problemText(exercise) { return exercise.verdict ? sentence(verdictText(exercise.verdict)) : goalText(exercise); }

function goalText({toMove, isRead, group, stone, isOwn, goal, missed}) {
  const moves = text("toMove", {colour: text(toMove)});
  const name = {lives: "goalLive", seki: "goalSeki", ko: isOwn ? "goalKoOwn" : "goalKoTheir", dies: "goalKill"}[goal];
  if (name) return `${moves} · ${text(name, {stone})}`;
  if (missed) return `${moves} · ${text("goalBetter", {move: moveName(missed.move), count: missed.points})}`;
  if (isRead) return `${moves} · ${text("goalUnknown")}`;
  return group ? `${moves} · ${text("goalSearched", {number: number(group[0]), count: number(group[1])})}` : moves;
}

// What there is to know besides: what is sought, what was shown, on what the proof rests, and when the problem comes again.
function noteText(exercise, hasLines) {
  const {verdict, given, result, due} = exercise, said = verdict ? [`${sentence(goalText(exercise))}\n`] : [];
  if (!verdict && given && (given !== "solver" || hasLines)) said.push(text({solver: "solutionShown", search: "solutionOfSearch", record: "solutionOfRecord"}[given]));
  if (verdict?.walls.length) said.push(text("ifWallsLive", {stones: verdict.walls.join(" ")}));
  if (verdict?.isConditional) said.push(text("ifEnclosed"));
  if (result !== null && due) said.push(text("comesAgain", {when: fromToday(due)}));
  return said.join(" ");
}

function verdictText({move: vertex, by, isRight, outcome, isDecided, points, best}) {
  const move = moveName(vertex);
  if (isRight === null) return text("verdictUnknown", {move});
  if (by === "record") return text(isRight ? "recordRight" : "recordWrong", {move});
  if (by === "search" && isRight) return points && best ? text("playable", {best: moveName(best)}) : text("right");
  if (by === "search") return text("searchWrong", {move, count: points});
  if (!isRight) return text("wrong", {move, outcome: text(`now-${outcome}`)});
  return isDecided ? `${text("right")} ${sentence(text(`now-${outcome}`))}` : text("rightSoFar");
}
