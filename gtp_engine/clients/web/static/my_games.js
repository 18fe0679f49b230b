// The user's games: what was played and reviewed, the curve of the rank, and what has cost most points, to be practised.
import {button, find, make} from "./elements.js";
import {addButton} from "./faces.js";
import {rankName} from "./new_game.js";
import {called, date, number, percent, text} from "./words.js";

export class MyGames {
  // send: sends a message; resultText: says who has won.
  constructor(send, resultText) {
    Object.assign(this, {resultText});
    this.dialog = make("dialog", {id: "my-games"});
    document.body.append(this.dialog);
    addButton("myGames", "begin", () => send({type: "games"}));
    this.choose = (message) => {
      this.dialog.close();
      send(message);
    };
  }

  // Shows the answer to the message "games".
  show({games, curve, losses, hasProblems, problem}) {
    const heading = make("h2", {id: "my-games-title"}, text("myGames"));
    const list = make("ul", {id: "games"}, ...games.map((game) => make("li", {}, this.entry(game))));
    const give = make("a", {className: "button", href: `problems.sgf?language=${document.documentElement.lang}`, download: "", hidden: !hasProblems}, text("mine.problems"));
    const close = button(text("mine.close"), () => this.dialog.close());
    const parts = [heading, make("p", {role: "alert", dir: "auto", hidden: !problem}, problem)];
    if (curve) parts.push(make("h3", {}, text("mine.curve")), make("div", {id: "rank-curve", role: "img", ariaLabel: text("mine.curve"), innerHTML: curve}));
    if (losses.games) parts.push(...this.losses(losses));
    parts.push(games.length || losses.games ? list : make("p", {}, text("mine.none")), make("p", {className: "choices"}, give, close));
    this.dialog.setAttribute("aria-labelledby", heading.id);
    this.dialog.replaceChildren(...parts);
    if (!this.dialog.open) this.dialog.showModal();
    close.focus({preventScroll: true});  // a phone shows the heading first
  }

  // A button that opens a game.
  entry({name, key, width, height, players, opponent, own, result, isUnfinished, isEdited, moves, day, review}) {
    const people = own ? [text("engineAt", {rank: rankName(opponent)})] : [players.map(person).join(" – ")];
    const outcome = isUnfinished ? text("mine.unfinished") : result ? this.resultText(result) : "";
    const facts = [`${width} × ${height}`, isUnfinished && text(moves ? "script.afterMove" : "beforeFirst", {number: moves}), review && text(`mine.${review}`), date(day)];
    const line = (parts) => parts.filter(Boolean).join(" · ");
    const entry = button(line([...people, outcome]), () => this.choose(name ? {type: "resume", game: name} : {type: "reopen", key}));
    entry.append(make("small", {}, line(facts)));
    entry.classList.toggle("primary", isUnfinished && !isEdited);
    return entry;
  }

  // What has cost points, each with a click to practise it.
  losses({games, points, phases, kinds}) {
    const drill = ([said, lost, message]) => button(`${said}: ${text("mine.points", {points: number(lost, 1)})}`, () => this.choose({type: "drill", phase: "", about: "", ...message}));
    const list = (name, parts) => parts.length ? [make("p", {}, text(name, {what: parts[0][0].toLocaleLowerCase()})), make("p", {className: "choices"}, ...parts.map(drill))] : [];
    return [
      make("h3", {}, text("mine.losses", {count: games})),
      make("p", {id: "lost-all", className: "choices"}, drill([text("mine.all"), points, {}])),
      make("div", {id: "lost-phases"}, ...list("mine.mostPhase", phases.map(([phase, name, lost]) => [text(name), lost, {phase}]))),
      make("div", {id: "lost-kinds"}, ...list("mine.mostKind", kinds.map(([kind, lost]) => [text(`mine.kind-${kind}`), lost, {about: kind}]))),
    ];
  }
}

// How the reviewed players played, and the review as files.
export class Share {
  constructor() {
    this.table = make("table", {id: "summary"});
    this.links = make("p", {id: "share", className: "choices"});
    find("#reviewed").append(this.table);
    find("#others").after(this.links);
  }

  show({review: {job}}) {
    const players = (job && job.players) || [], {lang} = document.documentElement;
    this.links.hidden = !(job && job.stage === "done");
    this.table.hidden = !players.length;
    const said = JSON.stringify([players, lang]);
    if (said === this.said) return;
    this.said = said;
    const link = (kind) => make("a", {className: "button", href: `review.${kind}?language=${lang}`, download: ""}, text(`share.${kind}`));
    this.links.replaceChildren(make("span", {}, text("share")), link("html"), link("sgf"));
    const rows = [
      ["players.title", ({colour, name}) => ["Black", "White"].includes(name) ? text(colour) : `${text(colour)} · ${person(name)}`],
      ["players.accuracy", ({accuracy}) => percent(accuracy)],
      ["players.lostPerMove", ({lost}) => number(lost, 2)],
      ...Object.keys(players[0]?.phases ?? {}).map((phase) => [phase, ({phases}) => phases[phase] === null ? "–" : number(phases[phase], 2)]),
      ["players.firstChoice", ({firstChoice}) => percent(firstChoice)],
      ["players.rank", ({rank}) => rank ? text(rank.name, rank.values) : "–"],
    ];
    if (!players.some(({rank}) => rank)) rows.pop();
    this.table.replaceChildren(...rows.map(([name, value], index) => make("tr", {},
      make("th", {scope: "row", className: name.startsWith("phase.") ? "part" : ""}, text(name)), ...players.map((player) => make(index ? "td" : "th", {}, value(player))))));
  }
}

// The name of a player; records of the program call a person human.
const person = (name) => name && name !== "human" ? called(name) : text("human");
