// The graph of a game, which the program draws, and what was found for the position that is shown or pointed at, in
// words. A click goes to a position.
import {find} from "./elements.js";
import {number, percent, say, text} from "./words.js";

export class Graph {
  // element: where it is shown; onPlace: called with the number of moves that was clicked.
  constructor(element, onPlace) {
    this.element = element;
    element.addEventListener("click", (event) => onPlace(this.placeAt(event)));
    element.addEventListener("pointermove", (event) => this.tell(this.placeAt(event)));
    element.addEventListener("pointerleave", () => this.tell(this.place));
  }

  placeAt(event) {
    const box = this.element.getBoundingClientRect();
    return Math.min(Math.max(Math.round((event.clientX - box.left) / box.width * this.moves), 0), this.moves);
  }

  // Says what was found at a place, or at the nearest one that was searched if the user points there.
  tell(place) {
    const off = ([searched]) => Math.abs(searched - place), nearest = Math.min(...this.curve.map(off));
    const found = this.curve.find((each) => off(each) === nearest);
    const isShown = found && (place !== this.place || nearest === 0);
    const named = ([place]) => place ? {name: "position", values: {place}} : {name: "beforeFirst"};
    say(find("#graph-at"), isShown ? text("graphAt", {position: named(found), winrate: percent(found[1]), lead: ahead(found[2])}) : "");
  }

  // svg: the drawing; curve: [place, Black's win rate, Black's lead] for each position that was searched; scale: the lead
  // at the top.
  show({svg, curve, scale}, {moves, place}) {
    if (svg !== this.svg) this.element.innerHTML = this.svg = svg;
    Object.assign(this, {curve, moves, place});
    for (const side of ["x1", "x2"]) find("#graph .cursor").setAttribute(side, `${100 * place / Math.max(1, moves)}%`);
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
