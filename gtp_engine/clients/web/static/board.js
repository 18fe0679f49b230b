// The board: the server's drawing, and above it what follows the pointer and the keyboard. It knows no rules of Go.
import {shape} from "./elements.js";

const COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";  // as in GTP, without I
const STONE = 0.475;  // the radius of a stone, in distances between lines

export class Board {
  // element: the board; onPoint: called with the vertex that was clicked; onCursor: with the one the keyboard moved to;
  // onHover: with the one below the pointer, or null.
  constructor(element, {onPoint, onCursor, onHover}) {
    this.element = element;
    this.drawing = element.querySelector("#drawing");
    this.overlay = element.querySelector("#overlay");
    this.onPoint = onPoint;
    this.onCursor = onCursor;
    this.onHover = onHover;
    this.cursor = null;
    this.hovered = null;
    this.colour = null;
    element.addEventListener("click", (event) => {
      element.blur();  // who plays with the pointer steps through the game with the arrow keys
      this.choose(this.pointAt(event));
    });
    element.addEventListener("pointermove", (event) => this.hover(event.pointerType === "mouse" ? this.pointAt(event) : null));
    element.addEventListener("pointerleave", () => this.hover(null));
    element.addEventListener("keydown", (event) => this.key(event));
  }

  // Shows a drawing. colour: of the stone that may be played now, or null; stones: rows of ".", "X" and "O";
  // isPreview: whether the drawing has stones that are not played.
  show(svg, {width, height, stones, colour, isPreview}) {
    if (svg !== this.svg) {
      this.svg = svg;
      const read = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
      this.drawing.replaceChildren(document.importNode(read, true));
      const box = this.drawing.querySelector(".grid").getBBox();
      this.left = box.x;
      this.top = box.y;
      this.cell = box.width / (width - 1);
      this.overlay.setAttribute("viewBox", read.getAttribute("viewBox"));
    }
    if (width !== this.width || height !== this.height) this.cursor = this.hovered = null;
    Object.assign(this, {width, height, stones, colour, isPreview});
    this.element.classList.toggle("yours", colour !== null);
    this.sent = null;
    this.draw();
  }

  vertex([column, row]) { return `${COLUMNS[column]}${this.height - row}`; }

  isEmpty([column, row]) { return this.stones[row][column] === "."; }

  pointAt(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.overlay.getScreenCTM().inverse());
    const column = Math.round((at.x - this.left) / this.cell), row = Math.round((at.y - this.top) / this.cell);
    return column >= 0 && column < this.width && row >= 0 && row < this.height ? [column, row] : null;
  }

  hover(point) {
    if (String(point) === String(this.hovered)) return;
    this.hovered = point;
    this.onHover(point && this.vertex(point));
    this.draw();
  }

  // A click is shown at once, before the server has answered.
  choose(point) {
    if (!point) return;
    this.cursor = point;
    if (this.colour && this.isEmpty(point) && !this.sent) this.sent = point;
    this.draw();
    this.onPoint(this.vertex(point));
  }

  refused() {
    this.sent = null;
    this.draw();
  }

  key(event) {
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in steps) {
      const [right, down] = steps[event.key];
      const [column, row] = this.cursor || [this.width >> 1, this.height >> 1];
      this.cursor = this.cursor
        ? [Math.min(Math.max(column + right, 0), this.width - 1), Math.min(Math.max(row + down, 0), this.height - 1)]
        : [column, row];
      this.onCursor(this.vertex(this.cursor), this.stones[this.cursor[1]][this.cursor[0]]);
      this.draw();
    } else if ((event.key === "Enter" || event.key === " ") && this.cursor) {
      this.choose(this.cursor);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  draw() {
    const parts = [];
    if (this.sent) parts.push(this.ghost(this.sent, "sent"));
    else if (this.colour && !this.isPreview && this.hovered && this.isEmpty(this.hovered)) parts.push(this.ghost(this.hovered, "near"));
    if (this.cursor) {
      const [x, y] = this.centre(this.cursor), side = this.cell * 0.9;
      parts.push(shape("rect", {class: "cursor", x: x - side / 2, y: y - side / 2, width: side, height: side, rx: 2}));
    }
    this.overlay.replaceChildren(...parts);
  }

  ghost(point, kind) {
    const [x, y] = this.centre(point);
    return shape("circle", {class: `ghost ${this.colour} ${kind}`, cx: x, cy: y, r: STONE * this.cell});
  }

  centre([column, row]) { return [this.left + this.cell * column, this.top + this.cell * row]; }
}
