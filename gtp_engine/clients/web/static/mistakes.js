// The review of the game: its progress, the worst moves, and why they are mistakes.
import {button, fillList, find, make, onPointing} from "./elements.js";
import {lostPoints, moveName, number, say, sentence, text, told} from "./words.js";

const VISITS = [20, 50, 100, 200, 500];

export class Mistakes {
  // send: sends a message; onNode: called with the number of the node to go to, onRetry with that of a move to try again;
  // onLine: with the number of a reason, 0 for the better line, or null; onStage: with what a screen reader says when a
  // stage begins, without the moves in between.
  constructor(send, {onNode, onRetry, onLine, onStage}) {
    Object.assign(this, {onNode, onRetry, onLine, onStage});
    this.stage = null;
    this.said = "";
    this.opened = new Map();  // the mistakes that were shown stay open, so that nothing moves below the pointer
    find("#review").addEventListener("click", () => {
      const visits = Number(find("#review-visits").value) || null, colour = find("#review-colour").value;
      send(this.isRunning ? {type: "stop-review"} : {type: "review", visits, colour});
    });
  }

  get isRunning() { return Boolean(this.review && !["done", "stopped"].includes(this.review.stage)); }

  fill() {
    fillList(find("#review-visits"), [["", text("usual")], ...VISITS.map((count) => [count, number(count)])]);
    this.said = "";
  }

  show({review: {job: review}, position, now}) {
    this.review = review;
    find("#review").textContent = text(this.isRunning ? "reviewStop" : "review");
    find("#review").setAttribute("aria-pressed", this.isRunning);
    find("#review").dataset.sight = review && !this.isRunning ? "" : "review";
    find("#review").disabled = !this.isRunning && (!now.isReady || position.moves === 0);
    find("#reviewed").hidden = !review;
    const stage = review && review.stage, isNew = stage !== this.stage;
    this.stage = stage;
    if (isNew) this.opened.clear();
    if (!review) return;
    say(find("#review-stage"), stageText(review));
    if (isNew) this.onStage(stageText(review));
    find("#review-progress").hidden = !this.isRunning;
    find("#review-progress").value = review.progress;
    say(find("#mistakes-order"), review.mistakes.length ? text("mistakes.order") : "");
    // The lists stay the same elements as long as they say the same, so that the focus stays.
    const said = JSON.stringify([review.mistakes, review.praised, position.node]);
    if (said === this.said) return;
    this.said = said;
    const focused = document.activeElement.dataset.entry;
    const praised = review.praised.map((move) => this.praise(move, position.node));
    const mistakes = linesOf(review.mistakes).map((line) => this.item(line, position.node));
    find("#mistakes").replaceChildren(...(review.praisesFirst ? [...praised, ...mistakes] : [...mistakes, ...praised]));
    if (this.chosen === position.node) {
      this.chosen = null;
      find("#mistakes [aria-current]")?.parentElement.scrollIntoView({block: "nearest"});
    }
    if (focused) find("#mistakes").querySelector(`[data-entry="${focused}"]`)?.focus();
  }

  // What is said first about a move that is listed; "" for others.
  statusText(node) {
    const [mistake, praised] = [this.review?.mistakes, this.review?.praised].map((list) => list?.find((each) => each.node === node));
    if (mistake) return sentence(text("lost", {move: moveName(mistake.move), count: mistake.points, best: moveName(mistake.best)}));
    return praised ? moveText("praised", [praised]) : "";
  }

  // A click goes to the first mistake of a line, or on to the one after that which is shown.
  item(line, shown) {
    const current = line.find(({node}) => node === shown), next = line[(line.indexOf(current) + 1) % line.length];
    const choose = (node) => {
      this.chosen = node;
      this.onNode(node);
    };
    const item = document.createElement("li"), entry = button("", () => choose(next.node));
    if (current) this.opened.set(missedBy(current), current.node);
    const mistake = line.find(({node}) => node === this.opened.get(missedBy(line[0])));
    entry.append(...lineTexts(line).map(([kind, said]) => make("span", {className: kind, textContent: said})));
    entry.dataset.entry = missedBy(line[0]);
    item.append(entry);
    if (mistake) {
      const again = button(text("tryAgain"), () => this.onRetry(mistake.node));
      again.dataset.entry = `${mistake.node} again`;
      again.className = "primary";
      if (current) entry.setAttribute("aria-current", "true");
      const lines = [text("betterLine"), ...mistake.reasons.map(told)], show = current ? null : () => choose(mistake.node);
      item.append(...lines.map((said, index) => this.reason(said, index, `${mistake.node} ${index}`, show)), again);
    }
    return item;
  }

  praise(move, shown) {
    const item = document.createElement("li"), entry = button(moveText("praised", [move]), () => this.onNode(move.node));
    entry.dataset.entry = move.node;
    item.append(entry);
    if (move.node === shown) {
      entry.setAttribute("aria-current", "true");
      item.append(...move.reasons.map((reason) => make("p", {textContent: told(reason)})));
    }
    return item;
  }

  // entry: identifies its button, which may be made anew; show: shows its mistake, null if the board does.
  reason(said, index, entry, show) {
    const element = button(said, show ?? (() => this.onLine(index)));
    element.dataset.entry = entry;
    element.className = "reason";
    if (!show) onPointing(element, () => this.onLine(index), () => this.onLine(null));
    return element;
  }
}

function stageText({stage, done, total, mistakes, isLesson}) {
  const values = {done: number(done), total: number(total)};
  const names = {moves: "reviewMoves", again: "reviewAgain", compiling: "compiling", reasons: "reviewReasons", stopped: "reviewStopped"};
  return text(names[stage] || (!mistakes.length ? "noMistakes" : isLesson ? "lesson" : "reviewDone"), values);
}

// Mistakes of one player who could have played on the same point are one line, where the most important of them stands.
function linesOf(mistakes) {
  const lines = new Map();
  for (const mistake of mistakes) {
    const missed = missedBy(mistake);
    lines.set(missed, [...(lines.get(missed) || []), mistake].sort((one, other) => one.number - other.number));
  }
  return [...lines.values()];
}

function missedBy({node, colour, best}) { return `${colour} ${best === "pass" ? node : best}`; }

function moveText(name, moves) {
  const numbers = moves.map((each) => number(each.number)), played = moves.map(({move}) => moveName(move));
  return text(name, {number: numbers.join(", "), colour: text(moves[0].colour), move: played.join(", ")});
}

// The parts of an entry, each with its class.
function lineTexts(line) {
  const lost = line.map(({points}) => lostPoints(points)), best = moveName(line[0].best);
  return [["", moveText("mistake", line)], ["lost", lost.join(" ")], ["note", text("isBetter", {best})]];
}
