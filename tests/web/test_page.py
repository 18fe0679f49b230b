"""The files of the page: their texts and their size."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import numpy as np
import pytest

import gtp_engine.clients.web
from gtp_engine.base.languages.texts import texts
from gtp_engine.go.drawing import BoardDrawing, Candidate, drawing_script
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS, rules_name
from gtp_engine.solver.description import STATUSES
from gtp_engine.solver.refutations import Outcome

STATIC = Path(gtp_engine.clients.web.__file__).parent / "static"
# The names with a dot are those of the page of a review.
TEXTS = {name for name in texts().names if "." not in name}
SCRIPTS = "".join([drawing_script(), *(path.read_text("utf-8") for path in STATIC.glob("*.js"))])
PAGE = (STATIC / "index.html").read_text("utf-8")


def test_what_may_be_in_english_on_an_arabic_page_has_its_own_direction() -> None:
    for name in ("problem", "open-problem", "notice", "comment"):
        (tag,) = re.findall(rf'<p id="{name}"[^>]*>', PAGE)
        assert 'dir="auto"' in tag, name


def test_every_text_is_used_and_every_used_text_exists() -> None:
    used = set(re.findall(r'data-(?:text|label|roledescription)="([\w-]+)"', PAGE))
    assert used <= TEXTS
    quoted = set(re.findall(r'"([\w-]+)"', SCRIPTS)) | used
    quoted |= {f"{kind}-{name}" for kind in ("layer", "rules", "stones", "theme", "time", "tool") for name in quoted}
    quoted |= {f"life-{status}" for status in STATUSES} | {f"rules-{name}" for name in RULESETS}
    quoted |= {f"{kind}-{outcome.value}" for kind in ("now", "outcome") for outcome in Outcome}
    assert quoted >= TEXTS


def test_no_two_rulesets_that_are_offered_are_the_same() -> None:
    offered = re.search(r"const RULES = \[(.*?)\]", SCRIPTS)
    assert offered is not None
    names = re.findall(r'"([\w-]+)"', offered[1])
    assert "japanese" in names and [rules_name(RULESETS[name]) for name in names] == names


def run_script(script: str, module: str) -> list[str]:
    """Returns the words that a script prints; it imports a module of the page, whose elements are stand-ins."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    page = """
        const element = () => ({value: "", options: [], set: {}, on: {}, dataset: {}, querySelector: element,
          matches: () => false, append() {}, removeAttribute() {},
          setAttribute(name, value) { this.set[name] = value; }, replaceChildren(...all) { this.children = all; },
          addEventListener(type, listener) { this.on[type] = listener; }});
        const elements = {};
        globalThis.document = {createElementNS: element, createElement: element,
          querySelectorAll: () => [], querySelector: (name) => elements[name] ??= element()};
        """
    with TemporaryDirectory() as folder:
        files = Path(shutil.copytree(STATIC, folder, dirs_exist_ok=True))
        (files / "drawing.js").write_text(drawing_script(), "utf-8")
        command = [node, "--input-type=module", "--eval", page + script, str(files / module)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()


def test_a_new_game_begins_with_the_settings_of_the_present_one() -> None:
    script = """
        const module = process.argv[1];
        const field = (...values) => ({value: values[0], options: values.map((value) => ({value})),
          add(option) { this.options.push(option); }, addEventListener() {}});
        globalThis.Option = class { constructor(name, value) { Object.assign(this, {name, value: String(value)}); } };
        const {NewGame} = await import(module);
        globalThis.fetch = () => ({json: () => ({about: {}, "rules-stone-scoring": "Stone-scoring"})});
        document.documentElement = {};
        await (await import(module.replace("new_game", "words"))).use("en");
        const form = {rank: field("12k", "25k", "max"), size: field("9", "13", "19"), handicap: field("0", "2"),
          colour: field("black", "white", "random", "both"), rules: field("chinese", "aga"), time: field("none"),
          addEventListener() {}, querySelectorAll: () => []};
        for (const name of ["komi", "seconds", "minutes", "period", "periods", "stonesPeriod", "stones", "increment"]) {
          form[name] = {value: "-", checkValidity() { return Number(this.value) < 1000; }};
        }
        const names = ["rank", "size", "colour", "handicap", "rules", "komi", "seconds", "time", "minutes", "period"];
        const game = {rank: "25k", width: 19, height: 19, humans: ["white"], handicap: 0, rules: "aga", komi: 7.5,
          isUsualKomi: true, seconds: null, visits: 100, isRecord: false};
        const newGame = new NewGame({querySelector: () => form, showModal() {}});
        const open = ({clock = {system: "none"}, ...changed}) => {
          newGame.open({game: {...game, ...changed}, now: {clock}});
          console.log(names.map((name) => form[name].value || "empty").join());
        };
        const limits = () => console.log(Object.values(newGame.engineLimits()).join());
        open({});
        limits();
        form.seconds.value = "7";
        limits();
        form.seconds.value = "-";
        const clock = {system: "byoyomi", main: 600, period: 30, count: 5};
        open({width: 7, height: 7, humans: ["black", "white"], komi: 4, isUsualKomi: false, seconds: 2, clock});
        open({isRecord: true, rank: "max", seconds: 3});
        form.colour.value = "random";
        open({width: 5, height: 6, handicap: 1, rules: "other", seconds: 4000});
        open({rules: "stone-scoring"});
        open({rules: "stone-scoring"});
        console.log(form.rules.options.length, form.rules.options[2].name);"""
    assert run_script(script, "new_game.js") == [
        "25k,19,white,0,aga,empty,-,none,-,-",
        ",100",
        "7,",
        "25k,7,both,0,aga,4,-,byoyomi,10,30",
        "max,7,both,0,aga,4,3,byoyomi,10,30",
        "25k,5x6,random,0,aga,empty,3,none,10,30",
        "25k,19,random,0,stone-scoring,empty,3,none,10,30",
        "25k,19,random,0,stone-scoring,empty,3,none,10,30",
        "3",
        "Stone-scoring",
    ]


def test_a_smaller_board_below_the_pointer_is_drawn() -> None:
    script = """
        const {Board} = await import(process.argv[1]);
        const svg = () => ({...element(), getAttribute: () => "0 0 9 9", insertBefore: (group) => group,
          querySelector: () => ({...element(), firstElementChild: element(), cloneNode: element})});
        globalThis.DOMParser = class { parseFromString() { return {documentElement: svg()}; } };
        document.importNode = (node) => node;
        const overlay = svg(), classList = {toggle() {}};
        const board = new Board({...element(), querySelector: () => overlay, classList}, {onHover() {}});
        const show = (size) => board.show(`${size}`, {width: size, height: size, colour: "black", isPreview: false,
          stones: Array(size).fill(".".repeat(size)), drawn: {}});
        const say = () => console.log(board.overlay.children.length);
        show(19); board.hover(15 * 19 + 3); say();
        show(9); say();
        board.hover(5 * 9 + 3); say();"""
    assert run_script(script, "board.js") == ["1", "0", "1"]


GROUPS = ("black", "white", "ownership", "labels", "marks", "last-move", "candidates")


def test_a_script_draws_what_the_program_draws() -> None:
    game = Game(5, 4)
    for move in ("B2", "C3", "D2"):
        game.play(game.to_move, move)
    ownership = np.array([[1, 0.5, 0.05, -0.4, -1]] * 4)
    candidates = [Candidate("A1", "#5cc48d", ("61", "1.2k"), is_best=True), Candidate("E4", "#123456", ("7",))]
    labels, marks = {"C3": "12", "E1": "A"}, {"B2": "square", "A4": "cross"}
    svg = BoardDrawing(game.stones(), "D2", candidates, ownership, labels, marks).to_svg()
    empty = BoardDrawing(np.zeros((4, 5), np.int8)).to_svg()
    expected = []
    for group in ElementTree.fromstring(svg):
        if (name := group.get("class", "")) in GROUPS:
            for each in group[0] if name in ("black", "white") else group:
                attributes = [text for item in sorted(each.items()) for text in item]
                line = "|".join([each.tag.rpartition("}")[2], each.text or "", *attributes])
                expected.append((name, line.replace(" ", "_")))
    script = """
        const {Drawing} = await import(process.argv[1]);
        const {EMPTY, GROUPS, labels, marks, ownership} = VALUES, groups = {};
        const group = () => ({...element(), firstElementChild: element()});
        for (const name of GROUPS) if (EMPTY.includes(`class="${name}"`)) groups[name] = group();
        document.createElementNS = (_, name) => (
          {...element(), name, append(...all) { (this.children ??= []).push(...all); }});
        const svg = {querySelector: (name) => groups[name.slice(1)],
          insertBefore: (made) => groups[made.set.class] = made};
        const drawing = new Drawing(svg, 5, 4), point = (vertex) => drawing.point(vertex);
        const by = (texts) => new Map(Object.entries(texts).map(([vertex, text]) => [point(vertex), text]));
        drawing.draw({stones: [0,0,0,0,0, 0,0,2,0,0, 0,1,0,1,0, 0,0,0,0,0], last: point("D2"), ownership,
          labels: by(labels), marks: by(marks),
          candidates: [{point: point("A1"), fill: "#5cc48d", text: ["61", "1.2k"], isBest: true},
            {point: point("E4"), fill: "#123456", text: ["7"]}]});
        const flat = (each) => each.name === "g" ? each.children.flatMap(flat) : [each];
        for (const name of GROUPS) {
          const {children} = ["black", "white"].includes(name) ? groups[name].firstElementChild : groups[name];
          for (const {name: tag, textContent, set} of children.flatMap(flat)) {
            const words = [tag, textContent || "", ...Object.entries(set).sort().flat()];
            console.log(name, words.join("|").replaceAll(" ", "_"));
          }
        }"""
    values = {"EMPTY": empty, "GROUPS": GROUPS, "labels": labels, "marks": marks}
    values["ownership"] = ownership.ravel().tolist()
    found = run_script(script.replace("VALUES", json.dumps(values)), "drawing.js")
    pairs = sorted(zip(found[::2], found[1::2], strict=True))
    assert len(pairs) == len(expected) == 29
    number = re.compile(r"-?\d+\.?\d*(?![\da-f])")
    for (name, one), (same, other) in zip(pairs, sorted(expected), strict=True):
        assert (name, number.sub("", one)) == (same, number.sub("", other))
        assert [*map(float, number.findall(one))] == pytest.approx([*map(float, number.findall(other))], abs=1e-4)


# The page in a language, whose file the program would have sent.
IN_LANGUAGE = """
    const stored = {};
    Object.assign(globalThis, {fetch: async () => ({json: () => (TEXTS)})});
    globalThis.localStorage = {getItem: (key) => stored[key] ?? null, setItem(key, value) { stored[key] = value; }};
    Object.assign(document, {documentElement: {}, activeElement: element(), querySelectorAll: () => []});
    const {choose, use} = await import(process.argv[1].replace(/\\w+\\.js$/, "words.js"));
    """


def in_language(language: str, script: str, module: str) -> list[str]:
    """Returns the words that a script prints on a page in a language."""
    stored = (Path(gtp_engine.base.languages.__file__).parent / f"{language}.json").read_text("utf-8")
    return run_script(IN_LANGUAGE.replace("TEXTS", stored) + script, module)


def test_numbers_have_decimal_points_as_the_reasons_beside_them() -> None:
    script = """
        const {number, percent} = await import(process.argv[1]);
        for (const language of ["en", "es", "zh", "ar"]) {
          await use(language);
          console.log(number(17.7, 1), percent(0.9).replace(/[^0-9%]/g, ""));
        }
        await use("en");
        console.log(number(-1.5, 1), number(-0.04, 1));"""
    assert in_language("en", script, "words.js") == ["17.7", "90%"] * 4 + ["\u22121.5", "0.0"]


def test_only_a_language_that_was_chosen_is_kept() -> None:
    script = """
        await use("es"); console.log(JSON.stringify(stored));
        await choose("es"); console.log(JSON.stringify(stored));"""
    assert "".join(in_language("es", script, "words.js")) == '{}{"gtp_enginelanguage":"es"}'


def test_a_pass_has_a_name_in_every_language() -> None:
    script = """
        await use("es");
        const {Mistakes} = await import(process.argv[1]);
        const mistake = {node: 3, number: 7, colour: "black", move: "pass", points: 2, best: "pass"};
        const review = {stage: "done", mistakes: [mistake], praised: []};
        const made = [];
        document.createElement = () => made[made.push(element()) - 1];
        const others = {play: {}, now: {}, position: {node: 0, moves: 8}};
        new Mistakes(null, {onStage() {}}).show({review: {job: review}, ...others});
        console.log(made.map((each) => each.textContent).join(" "));"""
    said = " ".join(in_language("es", script, "mistakes.js"))
    assert "Negro pase" in said and said.count("pase") == 2 and "pass" not in said and "\u22122" in said


def test_a_praised_move_says_why_when_it_is_shown() -> None:
    script = """
        await use("en");
        const {Mistakes} = await import(process.argv[1]);
        const reasons = [{name: "reason.found", values: {played: "D2", move: "E5"}}];
        const praised = [{node: 4, number: 9, colour: "black", move: "D2", reasons}];
        const made = [];
        document.createElement = () => made[made.push({...element(), append() {}}) - 1];
        const others = {play: {}, now: {}, position: {node: 4, moves: 9}};
        const review = {stage: "done", mistakes: [], praised};
        const page = new Mistakes(null, {onStage() {}});
        page.show({review: {job: review}, ...others});
        console.log(made.map((each) => each.textContent).join(" "));
        page.item = () => "mistake";
        page.praise = () => "praise";
        for (const praisesFirst of [true, false]) {
          page.said = "";
          elements["#mistakes"].replaceChildren = (...shown) => console.log(shown.join(" "));
          page.show({review: {job: {...review, mistakes: [{}], praisesFirst}}, ...others});
        }"""
    said = " ".join(in_language("en", script, "mistakes.js"))
    assert "9. Black D2: well played" in said
    assert "Well played: D2 is hard to find, and E5 would lose points." in said
    assert said.endswith("praise mistake mistake praise")


def test_the_sentence_about_a_listed_move_comes_first() -> None:
    script = """
        await use("en");
        const {Mistakes} = await import(process.argv[1]);
        const page = new Mistakes(null, {onStage() {}});
        const others = {play: {}, now: {}, position: {node: 0, moves: 9}};
        const mistakes = [{node: 3, number: 7, colour: "black", move: "C3", points: 15, best: "pass", reasons: []}];
        const praised = [{node: 4, number: 9, colour: "black", move: "D2", reasons: []}];
        page.show({review: {job: null}, ...others});
        console.log(`[${page.statusText(3)}]`);
        page.show({review: {job: {stage: "done", mistakes, praised}}, ...others});
        for (const node of [3, 4, 5]) console.log(`[${page.statusText(node)}]`);"""
    assert " ".join(in_language("en", script, "mistakes.js")) == (
        "[] [C3 loses about 15 points; pass is better.] [9. Black D2: well played] []"
    )


def test_a_list_of_mistakes_says_what_orders_it() -> None:
    """Larger losses in a game that seemed decided may come after smaller ones."""
    script = """
        await use("en");
        const {Mistakes} = await import(process.argv[1]);
        const page = new Mistakes(null, {onStage() {}});
        const mistake = {node: 3, number: 7, colour: "black", move: "C3", points: 2, best: "pass", reasons: []};
        for (const mistakes of [[mistake], []]) {
          const job = {stage: "done", isLesson: true, mistakes, praised: []};
          page.show({review: {job}, play: {}, now: {}, position: {node: 0, moves: 8}});
          console.log(`[${elements["#review-stage"].textContent}; ${elements["#mistakes-order"].textContent}]`);
        }"""
    assert " ".join(in_language("en", script, "mistakes.js")) == (
        "[The moves that mattered most: choose one to see it; The most important first: a point counts for more the "
        "likelier it is, at the players' rank, that a game with this lead can still turn.] [The review has found no "
        "mistakes; ]"
    )


def test_a_screen_reader_hears_of_each_stage_of_a_review_once() -> None:
    (tag,) = re.findall(r'<span id="review-stage"[^>]*>', PAGE)
    assert "role=" not in tag and "aria-live" not in tag
    script = """
        await use("en");
        const {Mistakes} = await import(process.argv[1]);
        const said = [];
        const review = new Mistakes(null, {onStage: (text) => said.push(text)});
        const show = (stage, done) => {
          const job = stage && {stage, done, total: 9, mistakes: [], praised: []};
          review.show({review: {job}, play: {}, now: {}, position: {node: 0, moves: 9}});
        };
        show("moves", 0); show("moves", 5); show("reasons", 0); show("done", 0); show("done", 0);
        console.log(said.length);
        show(null); show("done", 0);
        console.log(said.length);
        show("compiling", 0);
        console.log(said.pop());"""
    said = " ".join(in_language("en", script, "mistakes.js"))
    assert said == "3 4 The engine is getting ready; at the first start that takes about a minute"


def test_mistakes_with_the_same_better_move_are_one_line() -> None:
    script = """
        await use("en");
        const {Mistakes} = await import(process.argv[1]);
        const review = new Mistakes(null, {onStage() {}, onNode: (node) => console.log("to", node)});
        document.createElement = () => ({...element(), append(...all) { (this.children ??= []).push(...all); }});
        const played = {7: ["A1", "E5"], 31: ["C3", "D4"], 35: ["F6", "D4"], 40: ["A2", "D4"]};
        const mistakes = [35, 7, 31, 40].map((number) => {
          const [move, best] = played[number], colour = number % 2 ? "black" : "white";
          return {node: 10 * number, number, colour, move, points: number % 10, best, reasons: []};
        });
        const lines = document.querySelector("#mistakes");
        for (const node of [0, 310, 350]) {
          const job = {stage: "done", mistakes, praised: []};
          review.show({review: {job}, play: {}, now: {}, position: {node, moves: 9}});
          if (!node) console.log(lines.children.map(({children: [entry]}) => entry.children[0].textContent).join("; "));
          const [entry, ...others] = lines.children[0].children;
          console.log(entry.children.map(({textContent}) => textContent).join(" "), others.length);
          entry.on.click();
          review.chosen = null;
        }"""
    line = "31, 35. Black C3, F6 \u22121 \u22125 D4 is better"
    assert " ".join(in_language("en", script, "mistakes.js")) == (
        f"31, 35. Black C3, F6; 7. Black A1; 40. White A2 {line} 0 to 310 {line} 2 to 350 {line} 2 to 310"
    )


def test_a_reason_keeps_the_focus_while_the_review_goes_on() -> None:
    script = """
        await use("en");
        const {Mistakes} = await import(process.argv[1]);
        const review = new Mistakes(null, {onStage() {}});
        document.createElement = () => ({...element(), append(...all) { (this.children ??= []).push(...all); }});
        const list = document.querySelector("#mistakes");
        const buttons = () => list.children.flatMap((item) => item.children);
        list.querySelector = (selector) => ({focus: () => console.log(selector.match(/"(.*)"/)[1].replace(" ", "-"))});
        const mistake = {node: 3, number: 7, colour: "black", move: "C3", points: 2, best: "pass"};
        const others = {play: {}, now: {}, position: {node: 3, moves: 9}};
        const show = (...reasons) =>
          review.show({review: {job: {stage: "reasons", mistakes: [{...mistake, reasons}], praised: []}}, ...others});
        show(); show();
        document.activeElement = buttons()[1]; show({name: "betterLine", values: {}});
        document.activeElement = buttons()[0]; show();
        console.log(new Set(buttons().map((button) => button.dataset.entry)).size);"""
    assert in_language("en", script, "mistakes.js") == ["3-0", "black-3", "3"]


# The field for the comment, on a page that shows nodes of trees. Each line of the output is the text of the field.
COMMENTS = """
    const {Study} = await import(process.argv[1]);
    const sent = [], field = elements["#comment-text"] = element();
    let isOpen = true;
    const study = new Study((message) => isOpen && sent.push(JSON.stringify(Object.values(message))) > 0);
    const show = (node, comment, tree = "1.0") => {
      study.state = {position: {node, comment, tree, place: 1}, game: {isStudy: true}, play: {}};
      study.showEditing(study.state);
      console.log(field.value || "-");
    };
    const type = (text) => { field.value = text; };
    const leave = () => field.on.blur();
    const answer = (node, tree, text) => { study.commentSaved({node, tree, text}); console.log(field.value || "-"); };
    const say = () => console.log(sent.splice(0).join(" ") || "nothing");
    """


def comments(script: str) -> list[str]:
    """Returns what the field for the comment holds in the course of a script, and what is sent."""
    return run_script(COMMENTS + script, "study.js")


def test_a_comment_that_is_being_typed_is_neither_lost_nor_moved() -> None:
    script = """
        show(3, "first"); type("typing"); show(3, "first", "1.1"); say();
        show(4, "second", "1.2"); say();
        show(4, "second", "1.3"); say();  // it is sent once
        answer(3, 1, "typing");
        show(3, "other", "2.1"); say();
        elements["#turn"].on.click(); say();
        study.show = () => {};
        study.loadTree({version: "1.9", nodes: [[0, -1, "other", false]]});  // that of the game before is still drawn
        study.tree.svg.getBoundingClientRect = () => ({left: 0, top: 0});
        study.tree.svg.on.click({clientX: 1, clientY: 1}); say();"""
    assert comments(script) == [
        *("first", "typing", "nothing"),
        *("typing", '["comment",3,1,"typing"]'),
        *("typing", "nothing"),
        "second",
        *("other", "nothing"),
        '["turn",3,2]',
        '["go",0,1]',
    ]


def test_the_field_for_the_comment_stays_with_its_position_while_the_user_is_in_it() -> None:
    script = """
        show(3, "old"); document.activeElement = field; type("half");
        show(4, "next", "1.1"); say();
        type("half-a-line"); show(5, "", "1.2"); answer(3, 1, "half"); say();
        leave(); say();  // to another window: the focus comes back
        type("half-a-line-more"); show(6, "last", "1.3"); say();
        document.activeElement = null; leave(); say();
        answer(3, 1, "half-a-line-more");
        document.activeElement = field; show(6, "elsewhere", "1.4"); say();"""
    assert comments(script) == [
        "old",
        *("half", "nothing"),
        *("half-a-line", "half-a-line", "nothing"),
        '["comment",3,1,"half-a-line"]',
        *("half-a-line-more", "nothing"),
        '["comment",3,1,"half-a-line-more"]',
        "last",
        *("elsewhere", "nothing"),
    ]


def test_the_field_for_the_comment_follows_to_another_game_with_the_user_in_it() -> None:
    script = """
        show(3, "old"); document.activeElement = field;
        show(3, "other", "2.1"); say();  // a file was dropped
        type("mine"); show(0, "third", "3.1"); say();
        leave(); say();  // it was refused
        type(""); show(0, "third", "3.2"); say();"""
    assert comments(script) == [
        *("old", "other", "nothing"),
        *("mine", '["comment",3,2,"mine"]'),
        "nothing",
        *("third", "nothing"),
    ]


def test_a_comment_is_saved_only_when_the_program_has_it() -> None:
    script = """
        show(3, "old"); type(" new "); isOpen = false; leave(); say();
        isOpen = true; study.askAgain(); say();
        show(3, "old"); leave(); say();  // the state from before the message
        answer(3, 1, "new"); show(3, "new", "1.1"); study.askAgain(); say();
        show(3, "old", "1.2");  // undone"""
    assert comments(script) == [
        *("old", "nothing"),
        '["comment",3,1,"new"]',
        *("new", "nothing"),
        *("new", "new", "nothing"),
        "old",
    ]


def test_a_comment_that_is_refused_stays_until_the_field_is_emptied() -> None:
    script = """
        show(3, "old"); type("mine"); show(3, "other", "2.1"); say();
        show(4, "", "2.2"); leave(); say();
        type(""); leave(); say(); show(4, "", "2.3");
        type("theirs"); leave(); say();"""
    assert comments(script) == [
        *("old", "mine", '["comment",3,1,"mine"]'),
        *("mine", "nothing"),
        *("nothing", "-"),
        '["comment",4,2,"theirs"]',
    ]


def test_sound_begins_with_a_gesture_of_the_user() -> None:
    script = """
        const made = [], on = {};
        globalThis.AudioContext = class {
          constructor() { this.state = "suspended"; made.push(this); }
          resume() { this.state = "running"; }
        };
        globalThis.localStorage = {getItem: () => "on"};
        document.addEventListener = (type, listener) => { on[type] = listener; };
        const {Sound} = await import(process.argv[1]);
        const sound = new Sound(element());
        sound.tick();  // after a reload
        console.log(made.length);
        on.keydown(); on.pointerdown();
        console.log(made.length, made[0].state);
        made[0].state = "interrupted"; on.pointerup();
        console.log(made[0].state);
        sound.switched.checked = false; sound.audio = null; on.keydown();
        console.log(made.length);"""
    assert run_script(script, "sound.js") == ["0", "1", "running", "running", "1"]


def test_what_happens_while_sound_is_suspended_is_not_heard_later() -> None:
    script = """
        const change = {setValueAtTime() {}, exponentialRampToValueAtTime() {}};
        const part = {frequency: change, gain: change, connect: (to) => to, start() {}, stop() {}};
        globalThis.AudioContext = class {
          state = "suspended";
          resume() { return new Promise((resolve) => { this.begin = () => { this.state = "running"; resolve(); }; }); }
          createOscillator() { return part; }
          createGain() { return part; }
        };
        globalThis.localStorage = {getItem: () => "off", setItem() {}};
        Object.assign(document, {documentElement: element(), addEventListener() {}});
        const knocks = () => console.log(document.documentElement.dataset.knocks || 0);
        const {Sound} = await import(process.argv[1]);
        const sound = new Sound(element());
        sound.switched.checked = true;
        const changed = sound.switched.on.change();
        sound.tick(); knocks();
        sound.audio.begin();
        await changed; knocks();  // the sample
        sound.tick(); knocks();
        sound.audio.state = "interrupted"; sound.tick(); knocks();"""
    assert run_script(script, "sound.js") == ["0", "1", "2", "2"]


def test_a_stone_is_no_longer_the_tool_where_none_can_be_put() -> None:
    script = """
        const tool = document.querySelector("#tool");
        tool.options = ["play", "square", "black"].map((value) => ({value}));
        study.onTool = () => console.log("drawn");
        for (const [chosen, isStudy] of [["black", true], ["square", false], ["black", false]]) {
          tool.value = chosen;
          study.state = {position: {node: 3, comment: "", tree: "1.0", place: 1}, game: {isStudy}, play: {}};
          study.showEditing(study.state);
          console.log(tool.value);
        }"""
    assert comments(script) == ["black", "square", "drawn", "play"]


def test_the_scripts_are_small_and_load_nothing_from_elsewhere() -> None:
    assert len(SCRIPTS.encode()) <= 250_000
    styles = (STATIC / "page.css").read_text("utf-8")
    for text in (PAGE, SCRIPTS.replace("http://www.w3.org/2000/svg", ""), styles):
        assert "http:" not in text and "https:" not in text and "url(" not in text


def test_each_of_the_last_seconds_is_told_once() -> None:
    script = """
        let now = 0;
        globalThis.setInterval = () => {};
        Object.defineProperty(globalThis, "performance", {value: {now: () => 1000 * now}});
        await use("en");
        const {Clocks} = await import(process.argv[1]);
        const region = element();
        let ticks = 0;
        const clocks = new Clocks([{dataset: {colour: "black"}, querySelector: () => clock}], region, () => ticks++);
        const clock = {...element(), getAttribute() {}, classList: {toggle() {}}};
        clocks.connect(true);
        const say = () => { console.log(`${ticks}:${region.textContent.replaceAll(" ", "_")}`); ticks = 0; };
        const turn = (left, running, system = "byoyomi") => clocks.show({game: {humans: ["black"]},
          position: {toMove: "black"},
          now: {clock: {system, period: 10, count: 3, used: {}, left: {black: left}, running}}});
        const wait = (seconds) => { for (const end = now + seconds; now < end; now += 0.25) clocks.draw(); };
        turn([10, 3], "black"); say();  // a turn begins with its last ten seconds
        wait(2.5); say();
        turn([8.01, 3], "black"); wait(0.5); say();  // a message corrects the clock a little
        turn([10, 3], "white"); say();
        turn([10, 3], "black"); say();
        wait(12); turn([10, 2], "black"); say();  // the next period
        turn([12, 0], "white"); turn([12, 0], "black"); say();  // of the main time
        wait(3); say();
        turn([9.5, 0], "black", "absolute"); wait(12); say();
        clocks.connect(false); say();"""
    first = "10_seconds_left_·_3_periods_left"
    second = "10_seconds_left_·_2_periods_left"
    lines = [f"1:{first}", f"2:{first}", f"0:{first}", "0:", f"1:{first}", f"10:{second}"]
    lines += ["0:", "1:10_seconds_left", "9:", "0:"]
    assert in_language("en", script, "clocks.js") == lines
