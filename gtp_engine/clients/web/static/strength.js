// The player's own rank: what is asked before the first game and before a game stops counting, and what is shown.
import {fillList, find} from "./elements.js";
import {rankChoices, rankName} from "./new_game.js";
import {treeNumber} from "./study.js";
import {number, text} from "./words.js";

export class Strength {
  // send: sends a message; onKept: called when the user wants the game to count after all.
  constructor(send, onKept) {
    this.dialog = find("#strength-dialog");
    this.form = this.dialog.querySelector("form");
    this.ends = [];  // the types of messages after which the game does not count
    this.isClosed = false;  // without an answer; the page asks again when it is opened anew
    this.dialog.addEventListener("cancel", () => { this.isClosed = true; });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.dialog.close();
      send({type: "strength", rank: this.form.rank.value});
    });
    this.question = find("#counting-dialog");
    this.question.addEventListener("close", () => this.held && onKept());
    find("#end-counting").addEventListener("click", () => {
      const message = this.held;
      this.held = null;
      this.ends = [];
      this.question.close();
      send(message);
    });
  }

  fill() {
    const answers = [["", "—"], ["never", text("steps.never")], ["rules", text("steps.knowRules")], ["unknown", text("rankUnknown")]];
    fillList(this.form.rank, [...answers, ...rankChoices()]);
  }

  // Whether a message waits until the user has said that the game need not count.
  holds(message) {
    if (!this.ends.includes(message.type) || message.on === false) return false;
    Object.assign(this, {held: message, asked: this.tree});
    this.question.showModal();
    return true;
  }

  show({rating, position: {tree}}) {
    this.ends = rating?.ends ?? [];
    this.tree = treeNumber(tree);
    // Another page may have answered meanwhile, or begun another game.
    if (this.question.open && !(this.asked === this.tree && this.ends.includes(this.held.type))) this.question.close();
    if (!rating?.asks) this.dialog.close();
    else if (!this.dialog.open && !this.isClosed) this.dialog.showModal();
  }
}

// What is said of the rank during and after a game that follows it, and after one that does not; "" for nothing.
export function ratingText({rating, play}) {
  if (!rating) return "";
  if (rating.result) {
    const {rank, within, games} = rating.result;
    return text("rankFound", {count: games, rank: rankName(rank), within: number(within)});
  }
  if (rating.counts) return text("rankFollows");
  return rating.uncounted && (rating.follows || play.isOver) ? text(rating.uncounted, {auto: text("rankAuto")}) : "";
}
