// Draws positions in a drawing of drawing.py, whose measures and colours are in `look`. It knows no rules of Go.
//
// Points are numbers: row * width + column from the top left, -1 for a pass. Stones have a colour for each point: 0 for
// none, 1 for Black, 2 for White.
const BLACK = 1, WHITE = 2, PASS = -1;

export function svgElement(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

export class Drawing {
  constructor(svg, width, height) {
    Object.assign(this, {svg, width, height});
    this.groups = new Map();
  }

  vertex(point) { return look.columns[point % this.width] + (this.height - Math.floor(point / this.width)); }

  // The point of a vertex such as "D4"; PASS for any other text.
  point(vertex) {
    const column = look.columns.indexOf(vertex[0]), row = this.height - Number(vertex.slice(1));
    return column >= 0 && row >= 0 ? row * this.width + column : PASS;
  }

  // The point nearest to a place in the drawing; PASS outside of the board.
  pointAt(x, y) {
    const [column, row] = [x, y].map((at) => Math.round((at - look.margin) / look.cell));
    return column >= 0 && column < this.width && row >= 0 && row < this.height ? row * this.width + column : PASS;
  }

  centre(point) {
    return [look.margin + look.cell * (point % this.width), look.margin + look.cell * Math.floor(point / this.width)];
  }

  get cell() { return look.cell; }

  // The place in the middle between a line, of columns or rows, and the one before.
  line(number) { return look.margin + look.cell * (number - 0.5); }

  stone(point, attributes = {}) { return this.circle(point, look.stone, attributes); }

  // A stone of a colour, "black" or "white", for another drawing above this one.
  copy(point, colour) {
    const group = this.group(colour).cloneNode(false);
    group.append(this.stone(point));
    return group;
  }

  circle(point, r, attributes = {}) {
    const [cx, cy] = this.centre(point);
    return svgElement("circle", {cx, cy, r, ...attributes});
  }

  text(point, size, text, attributes = {}, shift = 0) {
    const [x, y] = this.centre(point);
    return svgElement("text", {x, y: y + shift + look.baseline * size, "font-size": size, ...attributes}, text);
  }

  // stones: as above; last: the last move; labels, marks: texts and names of shapes by point; ownership: -1 to 1 for each
  // point, + for Black; candidates: discs with point, fill, text, and whether one is the best.
  draw({stones, last = PASS, labels = new Map(), marks = new Map(), ownership = [], candidates = [], title}) {
    for (const [colour, name] of [[BLACK, "black"], [WHITE, "white"]]) {
      const own = [...stones.keys()].filter((point) => stones[point] === colour);
      this.group(name).firstElementChild.replaceChildren(...own.map((point) => this.stone(point)));
    }
    const owned = [...ownership.keys()].flatMap((point) => this.owner(point, ownership[point], stones[point]));
    this.group("ownership", {opacity: 0.85}).replaceChildren(...owned);
    this.group("labels").replaceChildren(...[...labels].flatMap(([point, text]) => this.label(stones[point], point, text)));
    const shapes = [...marks].map(([point, name]) => this.mark(stones[point], point, name));
    this.group("marks", {fill: "none", "stroke-width": look.shape_width / look.shape}).replaceChildren(...shapes);
    const ring = {fill: "none", stroke: look.solid[3 - stones[last]], "stroke-width": look.ring_width};
    const hasRing = last !== PASS && stones[last] && !labels.has(last) && !marks.has(last);
    this.group("last-move").replaceChildren(...(hasRing ? [this.circle(last, look.ring, ring)] : []));
    this.group("candidates").replaceChildren(...candidates.map((candidate) => this.candidate(candidate)));
    if (title !== undefined) this.svg.querySelector("title").textContent = title;
  }

  // Returns a group of the drawing; one that it does not have is put below the candidates.
  group(name, attributes = {}) {
    if (!this.groups.has(name)) {
      const found = this.svg.querySelector(`.${name}`);
      const above = this.svg.querySelector(name === "ownership" ? ".labels" : ".candidates");
      this.groups.set(name, found || this.svg.insertBefore(svgElement("g", {class: name, ...attributes}), above));
    }
    return this.groups.get(name);
  }

  owner(point, value, stone) {
    const owner = value > 0 ? BLACK : WHITE;
    if (Math.abs(value) < look.least_ownership || stone === owner) return [];
    const side = look.cell / 2 * Math.min(1, Math.abs(value)), [x, y] = this.centre(point);
    return [svgElement("rect", {x: x - side / 2, y: y - side / 2, width: side, height: side, fill: look.solid[owner]})];
  }

  label(stone, point, text) {
    const size = Math.min(look.label_font, look.label_room / text.length);
    if (text.startsWith("\u2212")) {  // points lost: no number of a move is on red
      return [this.circle(point, look.label_disc, {fill: look.lost}), this.text(point, 0.9 * size, text, {fill: look.solid[WHITE], class: "lost"})];
    }
    const letters = this.text(point, size, text, {fill: look.solid[stone === BLACK ? WHITE : BLACK]});
    return stone ? [letters] : [this.circle(point, look.label_disc, {fill: look.wood}), letters];
  }

  mark(stone, point, name) {
    const transform = `translate(${this.centre(point).join(" ")}) scale(${look.shape})`;
    const stroke = look.solid[stone === BLACK ? WHITE : BLACK];
    return svgElement("path", {class: name, d: look.shapes[name], transform, stroke});
  }

  candidate({point, fill, text, isBest, index}) {
    const [stroke, width] = look.candidate_edges[isBest ? 1 : 0];
    const disc = svgElement("g", {class: "candidate", ...(index === undefined ? {} : {"data-index": index})});
    disc.append(this.stone(point, {fill, stroke, "stroke-width": width}));
    text.forEach((line, row) => {
      const size = look.candidate_fonts[text.length === 1 ? 0 : row + 1];
      disc.append(this.text(point, size, line, {}, text.length === 1 ? 0 : look.candidate_lines[row]));
    });
    return disc;
  }
}
