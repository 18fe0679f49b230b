// Records: walking through variations, and editing.
import {fillList, find} from "./elements.js";
import {Tree} from "./tree.js";
import {number, say, text} from "./words.js";

const SHAPES = ["triangle", "square", "circle", "cross", "letter", "number"];
const STONES = ["black", "white"];

export class Study {
  // send: sends what the user asks for; returns whether there is a connection. request: sends what the page needs itself,
  // which leaves a refusal of something else on the page.
  constructor(send, request) {
    this.send = send;
    this.request = request;
    this.tree = new Tree(find("#tree"), (node) => send({type: "go", node, tree: treeNumber(this.version)}));
    this.version = null;
    // The node whose comment is in the field, its tree, the comment as the program has it, and as it was last sent.
    this.edited = null;
    for (const [id, step] of [["variation-before", -1], ["variation-after", 1]]) {
      find(`#${id}`).addEventListener("click", () => send({type: "variation", step}));
    }
    for (const type of ["turn", "delete", "promote"]) find(`#${type}`).addEventListener("click", () => this.edit({type}));
    find("#comment-text").addEventListener("blur", () => {
      this.saveComment();
      if (this.state) this.showEditing(this.state);
    });
    find("#edit").addEventListener("toggle", () => this.onTool());
    find("#tool").addEventListener("change", () => this.onTool());
  }

  onTool() {}  // set by the page, which draws the pointer

  // What a click on the board does.
  get tool() { return find("#edit").open ? find("#tool").value : "play"; }

  // Puts the chosen mark or stone on a point; returns whether there is one to put.
  use(point) {
    const tool = this.tool;
    if (SHAPES.includes(tool)) this.edit({type: "mark", point, mark: tool});
    else if (STONES.includes(tool)) this.edit({type: "stone", point, colour: tool});
    return tool !== "play";
  }

  // Goes up or down in the tree; returns whether there is another variation.
  step(step) {
    if (this.state.position.variation.of < 2) return false;
    this.send({type: "variation", step});
    return true;
  }

  // The position that the page shows; the program may show another one by now.
  get shown() { return {node: this.state.position.node, tree: treeNumber(this.state.position.tree)}; }

  // Sends a move or another change in the position that the page shows.
  edit(message) { this.send({...message, ...this.shown}); }

  get isCommentChanged() { return Boolean(this.edited) && find("#comment-text").value.trim() !== this.edited.comment; }

  // Sends what has been typed, unless it is on its way or was refused. It counts as saved once the program has it.
  saveComment() {
    if (!this.isCommentChanged) return;
    const {node, tree, sent} = this.edited, typed = find("#comment-text").value.trim();
    const isGone = tree !== this.shown.tree;  // another game has taken the place of this one
    if (typed === sent || (isGone && !typed)) return;
    if (this.send({type: "comment", node, tree, text: typed})) this.edited.sent = typed;
  }

  // The program has a comment.
  commentSaved({node, tree, text: saved}) {
    if (!this.isEdited(node, tree)) return;
    this.edited.comment = saved;
    if (!this.isEdited(this.shown.node, this.shown.tree)) this.showEditing(this.state);
  }

  isEdited(node, tree) { return Boolean(this.edited) && this.edited.node === node && this.edited.tree === tree; }

  // The texts of lists, in the language of the page.
  fill() {
    fillList(find("#tool"), ["play", ...SHAPES, ...STONES].map((name) => [name, text(`tool-${name}`)]), "play");
  }

  loadTree({version, nodes}) {
    this.tree.load(nodes);
    this.version = version;
    this.show(this.state);
  }

  show(state) {
    this.state = state;
    if (state.position.tree !== this.version) this.ask(state.position.tree);
    const {number: place, of} = state.position.variation;
    for (const id of ["variation", "variation-before", "variation-after"]) find(`#${id}`).hidden = of < 2;
    say(find("#variation-place"), text("variation", {number: number(place), count: number(of)}));
    find("#tree").hidden = !(state.game.isStudy ? state.position.moves > 0 : this.tree.hasBranches);
    this.tree.show(state.position.node);
    this.showEditing(state);
  }

  // Asks once for each version of the tree.
  ask(version) {
    if (this.asked === version) return;
    this.asked = version;
    this.request({type: "tree"});
  }

  // After a lost connection an answer may not have come.
  askAgain() {
    this.asked = null;
    if (this.edited) this.edited.sent = null;
    this.saveComment();
  }

  showEditing(state) {
    this.showComment(state);
    for (const id of ["turn", "delete", "promote"]) find(`#${id}`).disabled = !state.game.isStudy;
    find("#delete").disabled ||= state.position.place === 0;
    for (const option of find("#tool").options) option.disabled = STONES.includes(option.value) && !state.game.isStudy;
    if (!state.game.isStudy && STONES.includes(find("#tool").value)) {
      find("#tool").value = "play";
      this.onTool();
    }
  }

  // While the user is in the field it stays with its position: the engine, or another page, may show another one meanwhile.
  // Another game has other positions, and only what has been typed stays.
  showComment(state) {
    const field = find("#comment-text"), node = state.position.node, tree = treeNumber(state.position.tree);
    const isSame = this.isEdited(node, tree), isTyped = this.isCommentChanged;
    if (this.edited?.tree === tree && !isSame && document.activeElement === field) return;
    if (isSame) this.edited.comment = state.position.comment.trim();
    else this.saveComment();
    // What has been typed stays until the program has it, also if it was refused; the user may copy and empty it.
    if (!isTyped || (!isSame && !field.value.trim())) {
      if (field.value.trim() !== state.position.comment.trim()) field.value = state.position.comment;
      this.edited = {node, tree, comment: state.position.comment.trim(), sent: null};
    }
  }
}

// Nodes are numbered anew in each game. version: of a tree.
export const treeNumber = (version) => Number(version.split(".")[0]);
