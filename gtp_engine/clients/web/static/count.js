// The count of a game: the sum of each player, and on request how each dead chain would be captured.
import {button, find, make} from "./elements.js";
import {number, say, text} from "./words.js";

const sums = find("#sums"), help = find("#count-help"), list = make("ul", {id: "captures"});

export class Count {
  // send: sends a message.
  constructor(send) {
    this.ask = button("", () => send({type: "captures"}));
    help.after(this.ask, list);
  }

  show({count, dead}) {
    sums.hidden = help.hidden = !count;
    this.ask.hidden = !count || !dead.length || Boolean(count.captures);
    list.hidden = !count?.captures;
    if (!count) return;
    say(sums, sumsText(count));
    say(help, text(dead.length ? "countHelp" : "countNoneDead"));
    say(this.ask, text("count.how"));
    list.replaceChildren(...(count.captures ?? []).map((capture) => make("li", {}, captureText(capture))));
  }
}

function sumsText({black, white, komi}) {
  const [blacks, whites, added] = [black, white, Math.abs(komi)].map((points) => number(points, points % 1 ? 1 : 0));
  const sign = komi > 0 ? "+" : "−";
  return text("count.sums", {black: blacks, white: komi ? `${whites} ${sign} ${added}` : whites});
}

function captureText({stones, moves}) {
  const said = moves.map(([colour, move]) => text("plays", {colour: text(colour), move}));
  return text("count.line", {stones: stones.join(" "), moves: said.join(", ") || text("count.noLine")});
}
