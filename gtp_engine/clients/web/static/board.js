// The board: a drawing of the position, and above it what follows the pointer and the keyboard.
import {Drawing, svgElement} from "./drawing.js";

const ROOM = 3, LEAST = 9;  // lines around the stones of a problem, and lines shown at least

export class Board {
  // element: the board; onPoint: called with the vertex that was clicked; onCursor: with the one the keyboard moved to;
  // onHover: with the one below the pointer, or null; onPick: with the one that was chosen but not played, or null.
  constructor(element, {onPoint, onCursor, onHover, onPick}) {
    this.element = element;
    this.frame = element.querySelector("#drawing");
    this.overlay = element.querySelector("#overlay");
    this.onPoint = onPoint;
    this.onCursor = onCursor;
    this.onHover = onHover;
    this.onPick = onPick;
    this.picked = null;  // the vertex of the move that is to be confirmed
    this.isCareful = false;  // whether moves are confirmed
    this.cursor = null;
    this.hovered = null;
    this.colour = null;
    element.addEventListener("click", (event) => {
      element.blur();  // who plays with the pointer steps through the game with the arrow keys
      this.click(this.pointAt(event));
    });
    element.addEventListener("pointermove", (event) => this.hover(event.pointerType === "mouse" ? this.pointAt(event) : null));
    element.addEventListener("pointerleave", () => this.hover(null));
    element.addEventListener("keydown", (event) => this.key(event));
  }

  // Shows a position. svg: the empty board; stones: rows of ".", "X" and "O"; drawn: labels, marks, ownership, candidates;
  // last: the last move, or null; title: what is drawn; colour: of the stone that may be played now, or null; isPreview:
  // whether there are stones that are not played; following: the moves of the record that come next, the main one first;
  // part: what identifies a problem, of whose board only the part with stones is shown, or null.
  show(svg, {width, height, stones, drawn, last, title, colour, isPreview, following = [], part = null}) {
    if (svg !== this.svg) {
      this.svg = svg;
      const read = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, own = document.importNode(read, true);
      this.frame.replaceChildren(own);
      this.drawing = new Drawing(own, width, height);
      this.whole = read.getAttribute("viewBox").split(" ").map(Number);
      this.cursor = this.hovered = null;
    }
    Object.assign(this, {width, height, colour, isPreview, following});
    this.stones = [...stones.join("")].map((letter) => ".XO".indexOf(letter));
    const byPoint = (texts = {}) => new Map(Object.entries(texts).map(([vertex, text]) => [this.drawing.point(vertex), text]));
    const candidates = (drawn.candidates || []).map((each) => ({...each, point: this.drawing.point(each.vertex)}));
    this.drawing.draw({
      title,
      stones: this.stones,
      last: last ? this.drawing.point(last) : -1,
      labels: byPoint(drawn.labels),
      marks: byPoint(drawn.marks),
      ownership: drawn.ownership,
      candidates: candidates.filter(({point}) => point >= 0),
    });
    this.frameStones(part);
    this.element.classList.toggle("yours", colour !== null);
    this.sent = null;
    this.draw();
  }

  // Shows the part of the board that a problem began with; more of it once a stone stands outside.
  frameStones(part) {
    const places = [...this.stones.keys()].filter((point) => this.stones[point]).map((point) => [point % this.width, Math.floor(point / this.width)]);
    if (part !== this.part) this.seen = null;
    this.part = part;
    if (part === null || !places.length) this.seen = [[0, this.width - 1], [0, this.height - 1]];
    else if (!this.seen || places.some((place) => place.some((at, axis) => at < this.seen[axis][0] || at > this.seen[axis][1]))) {
      const spans = [this.width, this.height].map((size, axis) => {
        const all = places.map((place) => place[axis]);
        return {size, first: Math.max(0, Math.min(...all) - ROOM), end: Math.min(size, Math.max(...all) + ROOM + 1)};
      });
      const side = Math.max(LEAST, ...spans.map(({first, end}) => end - first));
      this.seen = spans.map(({size, first, end}) => {
        const begin = Math.max(0, Math.min(Math.round((first + end - side) / 2), size - side));
        return [begin, Math.min(begin + side, size) - 1];
      });
    }
    const [left, top, width, height] = this.whole, [x, y] = this.seen.map(([first], axis) => first ? this.drawing.line(first) : [left, top][axis]);
    const [right, bottom] = this.seen.map(([, last], axis) => last < [this.width, this.height][axis] - 1 ? this.drawing.line(last + 1) : [left + width, top + height][axis]);
    const box = [x, y, right - x, bottom - y].join(" ");
    for (const svg of [this.overlay, this.drawing.svg]) if (svg.getAttribute("viewBox") !== box) svg.setAttribute("viewBox", box);
  }

  pointAt(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.overlay.getScreenCTM().inverse());
    const point = this.drawing.pointAt(at.x, at.y);
    return point < 0 ? null : point;
  }

  hover(point) {
    if (point === this.hovered) return;
    this.hovered = point;
    this.onHover(point === null ? null : this.drawing.vertex(point));
    this.draw();
  }

  // The pixels between two lines.
  get spacing() { return this.overlay.getScreenCTM().a * this.drawing.cell; }

  // Where moves are confirmed a click shows the move, and another one on it plays it; one on a stone shows none.
  click(point) {
    const vertex = point === null ? null : this.drawing.vertex(point);
    if (!this.isCareful || !this.colour || point === null || vertex === this.picked) return this.choose(point);
    this.cursor = point;
    this.pick(this.stones[point] && !this.isPreview ? null : vertex);
  }

  pick(vertex) {
    if (vertex === this.picked) return;
    this.picked = vertex;
    this.onPick(vertex);
    this.draw();
  }

  // A click is shown at once, before the server has answered.
  choose(point) {
    if (point === null) return;
    this.pick(null);
    this.cursor = point;
    if (this.colour && !this.stones[point] && this.sent === null) this.sent = point;
    this.draw();
    this.onPoint(this.drawing.vertex(point));
  }

  refused() {
    this.sent = null;
    this.draw();
  }

  key(event) {
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in steps) {
      const step = this.cursor === null ? [0, 0] : steps[event.key];
      const from = this.cursor ?? (this.height >> 1) * this.width + (this.width >> 1);
      const column = Math.min(Math.max(from % this.width + step[0], 0), this.width - 1);
      const row = Math.min(Math.max(Math.floor(from / this.width) + step[1], 0), this.height - 1);
      this.cursor = row * this.width + column;
      this.onCursor(this.drawing.vertex(this.cursor), this.stones[this.cursor]);
      this.draw();
    } else if ((event.key === "Enter" || event.key === " ") && this.cursor !== null) {
      this.choose(this.cursor);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  draw() {
    if (!this.drawing) return;
    const parts = this.following.map((vertex) => this.drawing.point(vertex)).filter((point) => point >= 0).map((point, index) => {
      return this.drawing.circle(point, this.drawing.cell / 3, {class: index ? "next other" : "next"});
    });
    const picked = this.picked ? this.drawing.point(this.picked) : -1, isFree = this.hovered !== null && !this.stones[this.hovered];
    if (this.sent !== null) parts.push(this.ghost(this.sent, "sent"));
    else if (this.colour && picked >= 0) parts.push(this.cross(picked), ...(this.isPreview ? [] : [this.ghost(picked, "near")]));
    else if (this.colour && !this.isPreview && isFree) parts.push(this.ghost(this.hovered, "near"));
    if (this.cursor !== null) {
      const [x, y] = this.drawing.centre(this.cursor), side = this.drawing.cell * 0.9;
      parts.push(svgElement("rect", {class: "cursor", x: x - side / 2, y: y - side / 2, width: side, height: side, rx: 2}));
    }
    this.overlay.replaceChildren(...parts);
  }

  // Lines through a point, which a finger may hide.
  cross(point) {
    const [x, y] = this.drawing.centre(point), {width, height} = this.overlay.viewBox.baseVal;
    return svgElement("path", {class: "cross", d: `M0 ${y}H${2 * width}M${x} 0V${2 * height}`});
  }

  ghost(point, kind) {
    const stone = this.drawing.copy(point, this.colour);
    stone.setAttribute("class", `ghost ${this.colour} ${kind}`);
    return stone;
  }
}
