// The person's own rank: the question before the first game, and what is said of it in the others.
import {fillList, find} from "./elements.js";
import {rankChoices, rankName} from "./new_game.js";
import {number, text} from "./words.js";

export class Strength {
  // send: sends a message.
  constructor(send) {
    this.dialog = find("#strength-dialog");
    this.form = this.dialog.querySelector("form");
    this.isClosed = false;  // without an answer; the page asks again when it is opened anew
    this.dialog.addEventListener("cancel", () => { this.isClosed = true; });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.dialog.close();
      send({type: "strength", rank: this.form.rank.value});
    });
  }

  fill() { fillList(this.form.rank, [["unknown", text("rankUnknown")], ...rankChoices()], "unknown"); }

  show({rating}) {
    if (!rating?.asks) this.dialog.close();
    else if (!this.dialog.open && !this.isClosed) this.dialog.showModal();
  }
}

// What is said of the rank during and after a game that follows it; "" for nothing.
export function ratingText({rating, isOver}) {
  if (!rating?.follows) return "";
  if (rating.result) {
    const {rank, within, games} = rating.result;
    return text("rankFound", {count: games, rank: rankName(rank), within: number(within)});
  }
  if (isOver) return "";
  return text(rating.counts ? "rankFollows" : "rankNotCounted");
}
