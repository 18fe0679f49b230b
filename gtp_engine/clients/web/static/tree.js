// The tree of a game: a disc for each position, the main line on top. A click goes to a position.
import {svgElement} from "./drawing.js";

const STEP = 18, RADIUS = 6;

export class Tree {
  // element: the box that scrolls, with an svg in it; onNode: called with the number of the node that was clicked.
  constructor(element, onNode) {
    this.element = element;
    this.svg = element.querySelector("svg");
    this.places = new Map();
    this.svg.addEventListener("click", (event) => {
      const box = this.svg.getBoundingClientRect();
      const key = [event.clientX - box.left, event.clientY - box.top].map((at) => Math.floor(at / STEP)).join();
      for (const [number, place] of this.places) if (place.join() === key) onNode(number);
    });
  }

  // nodes: [number, number of the parent, kind, whether it has a comment], parents first and main lines first.
  load(nodes) {
    this.places = placed(nodes);
    const columns = Math.max(...[...this.places.values()].map(([column]) => column));
    const rows = Math.max(...[...this.places.values()].map(([, row]) => row));
    this.hasBranches = rows > 0;
    this.svg.setAttribute("width", STEP * (columns + 1));
    this.svg.setAttribute("height", STEP * (rows + 1));
    const edges = nodes.filter(([, parent]) => this.places.has(parent)).map(([number, parent]) => this.edge(number, parent));
    this.current = svgElement("rect", {class: "current", width: STEP, height: STEP, rx: 4});
    this.svg.replaceChildren(svgElement("path", {class: "edges", d: edges.join("")}), this.current, ...nodes.map((node) => this.disc(node)));
  }

  // Marks the position that is shown.
  show(number) {
    const place = this.places.get(number);
    if (!place || this.element.hidden) return;
    const [x, y] = place.map((at) => at * STEP);
    this.current.setAttribute("x", x);
    this.current.setAttribute("y", y);
    const {clientWidth, clientHeight, scrollLeft, scrollTop} = this.element;
    if (x < scrollLeft + STEP || x > scrollLeft + clientWidth - 2 * STEP) this.element.scrollLeft = x - clientWidth / 2;
    if (y < scrollTop || y > scrollTop + clientHeight - STEP) this.element.scrollTop = y - clientHeight / 2;
  }

  edge(number, parent) {
    const [[x, y], [fromX, fromY]] = [number, parent].map((node) => this.places.get(node).map((at) => STEP * (at + 0.5)));
    return y === fromY ? `M${fromX} ${y}H${x}` : `M${fromX} ${fromY}V${y - STEP / 2}L${fromX + STEP / 2} ${y}H${x}`;
  }

  disc([number, , kind, hasComment]) {
    const [cx, cy] = this.places.get(number).map((at) => STEP * (at + 0.5));
    return svgElement("circle", {class: hasComment ? `${kind} commented` : kind, cx, cy, r: kind === "other" ? RADIUS / 2 : RADIUS});
  }
}

// Returns the column and the row of each node. A variation has a row of its own as far as it reaches.
function placed(nodes) {
  const children = new Map(nodes.map(([number]) => [number, []]));
  for (const [number, parent] of nodes) if (children.has(parent)) children.get(parent).push(number);
  const places = new Map(), free = [];
  const waiting = [[nodes[0][0], 0, 0]];
  while (waiting.length) {
    const [start, column, least] = waiting.pop();
    const line = [start];
    while (children.get(line.at(-1)).length) line.push(children.get(line.at(-1))[0]);
    const from = Math.max(0, column - 1), to = column + line.length - 1;
    let row = least;
    for (let at = from; at <= to; at++) row = Math.max(row, free[at] || 0);
    for (let at = from; at <= to; at++) free[at] = row + 1;
    line.forEach((number, index) => places.set(number, [column + index, row]));
    // The last variations come first, so that no line crosses another one.
    line.forEach((number, index) => {
      for (const child of children.get(number).slice(1).reverse()) waiting.push([child, column + index + 1, row + 1]);
    });
  }
  return places;
}
