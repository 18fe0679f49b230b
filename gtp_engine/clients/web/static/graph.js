// The graph of a game: Black's win rate and lead after each move that was searched, in words too for the position that is
// shown or pointed at. A click goes to a position.
import {svgElement} from "./drawing.js";
import {find} from "./elements.js";
import {number, percent, say, text} from "./words.js";

const WIDTH = 320, HEIGHT = 90, LEAST_LEAD = 10;  // the lead's scale is at least so many points each way

export class Graph {
  // svg: where it is drawn; onPlace: called with the number of moves that was clicked.
  constructor(svg, onPlace) {
    this.svg = svg;
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.addEventListener("click", (event) => onPlace(this.placeAt(event)));
    svg.addEventListener("pointermove", (event) => this.tell(this.placeAt(event)));
    svg.addEventListener("pointerleave", () => this.tell(this.place));
  }

  placeAt(event) {
    const box = this.svg.getBoundingClientRect();
    return Math.min(Math.max(Math.round((event.clientX - box.left) / box.width * this.moves), 0), this.moves);
  }

  // Says what was found at a place, or at the nearest one that was searched if the user points there.
  tell(place) {
    const off = ([searched]) => Math.abs(searched - place), nearest = Math.min(...this.curve.map(off));
    const found = this.curve.find((each) => off(each) === nearest);
    const isShown = found && (place !== this.place || nearest === 0);
    say(find("#graph-at"), isShown ? text("graphAt", {place: found[0], winrate: percent(found[1]), lead: ahead(found[2])}) : "");
  }

  // curve: [place, Black's win rate, Black's lead] for each position that was searched; review: has the worst moves.
  show({curve, moves, place, review, guess}) {
    Object.assign(this, {curve, moves, place});
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
    label(".winrate", [1, 0.5, 0], percent);
    label(".lead", [scale, 0, -scale], ahead);
    this.tell(place);
  }
}

function label(kind, values, written) {
  document.querySelectorAll(`#plot ${kind} span`).forEach((element, index) => say(element, written(values[index])));
}

// A lead of Black's in the words of a result.
function ahead(lead) {
  if (Math.abs(lead) < 0.05) return text("ahead.even");
  return text(lead > 0 ? "ahead.black" : "ahead.white", {points: number(Math.abs(lead), lead % 1 ? 1 : 0)});
}

const path = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
