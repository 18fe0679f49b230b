// The three faces of the page, play, review and problem, and the few buttons that each has in sight; the others are
// behind More. `data-sight` of a button names the faces in which it is in sight if there is room for it, in the order of
// the page; "begin" is play before the first move, when they stand in one row, and "why" any face while a question about a
// move is open. What is hidden or disabled is nowhere.
import {button, find} from "./elements.js";

const MOST = 5;
// Buttons that stand elsewhere, and take room; lists of moves and of lines are content.
const CONTENT = "#actions *, #rest *, #mistakes :not(.primary), #candidates *, #life-answers *, #life-moves *";
const row = find("#actions"), rest = find("#rest"), more = find("#more");
const buttons = [...row.querySelectorAll("[data-sight]")];
let shown;  // the face, and whether a question is open
let measured = "", fitting;  // for which face, width and texts it is known how many buttons fit with More, and how many
new ResizeObserver(() => shown && showFace(...shown)).observe(row);

// Adds a button: `name` is that of its text, and its id; `sight` as above. Returns it, for its module to hide and show.
export function addButton(name, sight, onClick) {
  const added = button("", onClick);
  added.id = added.dataset.text = name;
  added.dataset.sight = sight;
  buttons.push(added);
  find("#others").append(added);  // where its text is filled in
  return added;
}

more.addEventListener("click", () => open(rest.hidden));
// It stays while the record is edited, which Undo is for too, and when a button of its own answers.
find("#others").addEventListener("click", ({target}) => target.closest("button, a") && open(find("#edit").open || target.id === "keep"));
document.addEventListener("keydown", ({key}) => {
  if (key !== "Escape" || !rest.contains(document.activeElement)) return;
  open(false);
  more.focus();
});

function open(isOpen) {
  rest.hidden = !isOpen;
  more.setAttribute("aria-expanded", isOpen);
  if (isOpen) rest.scrollIntoView({block: "nearest"});  // the list below it may have been scrolled
  else find("#edit").open = false;  // a click on the board plays again
}

// face: "begin", "play", "review" or "problem"; isAsking: whether a question about a move is open.
export function showFace(face, isAsking) {
  shown = [face, isAsking];
  document.body.dataset.face = face === "begin" ? "play" : face;
  const focused = document.activeElement, isIn = row.contains(focused);
  let room = MOST - [...document.querySelectorAll(`main button:not(${CONTENT})`)].filter((each) => each.checkVisibility({visibilityProperty: true})).length;
  const inSight = buttons.filter((each) => {
    const isUsable = !each.hidden && !each.disabled;
    return isUsable && each.dataset.sight.split(" ").includes(isAsking ? "why" : face) && room-- > 0;
  });
  inSight.splice(fit(inSight, face));
  put(find("#others"), buttons.filter((each) => !inSight.includes(each)));
  put(row, [...inSight, more]);
  if (focused.isConnected && focused.checkVisibility()) focused.focus({preventScroll: true});  // it may have moved
  else if (isIn) row.firstElementChild.focus({preventScroll: true});
}

// Returns how many of these buttons fit, one at least: More never has a row to itself, and before the first move there is
// only one row.
function fit(wanted, face) {
  const now = [face, row.clientWidth, ...wanted.map(({textContent}) => textContent)].join("\n");
  if (now === measured) return fitting;
  measured = now;
  for (fitting = wanted.length; ; fitting--) {
    put(row, [...wanted.slice(0, fitting), more]);
    const beside = face === "begin" ? row.firstElementChild : more.previousElementSibling;
    if (fitting < 2 || more.offsetTop === beside.offsetTop) return fitting;
  }
}

function put(place, wanted) {
  if (place.children.length !== wanted.length || wanted.some((each, index) => each !== place.children[index])) place.replaceChildren(...wanted);
}
