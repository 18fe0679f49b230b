// The graph of a game: Black's win rate and lead after each move that was searched. A click goes to a position.
import {svgElement} from "./drawing.js";

const WIDTH = 320, HEIGHT = 90, LEAST_LEAD = 10;  // the lead's scale is at least so many points each way

export class Graph {
  // svg: where it is drawn; onPlace: called with the number of moves that was clicked.
  constructor(svg, onPlace) {
    this.svg = svg;
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      onPlace(Math.round((event.clientX - box.left) / box.width * this.moves));
    });
  }

  // curve: [place, Black's win rate, Black's lead] for each position that was searched; review: has the worst moves.
  show({curve, moves, place, review, guess}) {
    this.moves = moves;
    const x = (number) => WIDTH * number / Math.max(1, moves);
    const scale = Math.max(LEAST_LEAD, ...curve.map(([, , lead]) => Math.abs(lead)));
    const rates = curve.map(([number, winrate]) => [x(number), HEIGHT * (1 - winrate)]);
    const leads = curve.map(([number, , lead]) => [x(number), HEIGHT / 2 * (1 - lead / scale)]);
    const isGuessing = Boolean(guess && guess.colour);
    const worst = new Set(review && !isGuessing ? review.mistakes.map((mistake) => mistake.place) : []);
    const dots = leads.filter((_, index) => worst.has(curve[index][0])).map(([left, top]) => `M${left.toFixed(1)} ${top.toFixed(1)}h0`);
    this.svg.replaceChildren(
      svgElement("path", {class: "middle", d: `M0 ${HEIGHT / 2}H${WIDTH}`}),
      svgElement("path", {class: "winrate", d: path(rates)}),
      svgElement("path", {class: "lead", d: path(leads)}),
      svgElement("path", {class: "mistakes", d: dots.join("")}),
      svgElement("path", {class: "place", d: `M${x(place)} 0V${HEIGHT}`}),
    );
  }
}

const path = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
