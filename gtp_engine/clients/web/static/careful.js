// Moves that are confirmed: the first click shows one, and a second one or the button plays it.
import {find, store, stored} from "./elements.js";
import {moveName, say, text} from "./words.js";

const STORED = "confirm moves";
const SURE_SPACING = 22;  // pixels between lines; a finger misses the point more often on closer ones, by judgement

export class Careful {
  // onPlay: called with the vertex to play.
  constructor(board, onPlay) {
    this.board = board;
    this.chosen = stored(STORED);
    find("#careful").addEventListener("change", ({target}) => {
      this.chosen = target.checked ? "on" : "off";
      store(STORED, this.chosen);
      board.pick(null);
      this.show();
    });
    find("#play").addEventListener("click", () => {
      const vertex = board.picked;
      board.pick(null);
      onPlay(vertex);
    });
  }

  show() {
    const {board} = this, isFinger = matchMedia("(pointer: coarse)").matches;
    board.isCareful = this.chosen ? this.chosen === "on" : isFinger && board.spacing < SURE_SPACING;
    find("#careful").checked = board.isCareful;
    // Where moves are confirmed the button keeps its place, so that no other one moves when a point is chosen.
    find("#play").hidden = !board.isCareful && !board.picked;
    find("#play").style.visibility = board.picked && board.colour ? "" : "hidden";
    say(find("#play"), text("playMove", {move: board.picked ? moveName(board.picked) : ""}));
  }
}
