// The page: one sentence at a time, answered by keys, clicks or touch.

import { plot } from "./plot.js";
import { Sentence } from "./sentence.js";
import { ask, Refused } from "./server.js";

const RESERVED = "sxz"; // letters that are no labels
const COLOURS = 8;
const LIKELY = 0.05; // suggestions below are not shown at first, nor more than these:
const FEW = 5;
const GOING_ON = "going on"; // the session whose person knows that it is enough
const WHY = {
  first: "From the first batch",
  ranked: "Likely to hold a mention",
  drawn: "Drawn at random, as no mention was found yet",
  audit: "Drawn at random, to check the estimate",
  skipped: "Skipped before",
};
const at = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en");
const percent = (share) => {
  const value = share * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  if (value < 100 && value > 99.9) return "> 99.9 %";
  return `${value.toFixed(1)} %`;
};

let state = null; // what the server said last
let label = ""; // of new mentions
let letters = {}; // label -> key
let busy = true; // something is on its way to the server
let notices = {}; // kind -> {text, look}
let everything = false; // suggestions that are hardly likely are shown, too

const sentence = new Sentence(at("sentence"), {
  colour: (name) => Math.max(0, state.session.labels.indexOf(name)) % COLOURS,
  changed: drawAnswer,
  marked: drawAccept,
  say,
  wanted: () => label,
});

function say(text, seen = false) {
  at("live").textContent = text;
  notice("hint", seen ? text : "");
}

function notice(kind, text, look = "") {
  if ((notices[kind] || {}).text === text) return;
  if (text) notices[kind] = { text, look };
  else if (!(kind in notices)) return;
  else delete notices[kind];
  const rows = Object.values(notices).map((one) => {
    const row = document.createElement("p");
    row.className = `notice ${one.look}`;
    row.textContent = one.text;
    if (one === notices.stop) row.append(" ", goOn());
    return row;
  });
  at("notices").replaceChildren(...rows);
}

function goOn() {
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("aria-keyshortcuts", "Escape");
  button.append("Go on ", keyOf("esc"));
  button.addEventListener("click", wentOn);
  return button;
}

// The person knows that it is enough, and is not told again, also after the page was loaded anew.
function wentOn() {
  sessionStorage.setItem(GOING_ON, state.session.name);
  notice("stop", "");
  at("sentence").focus({ preventScroll: true });
}

// The server

function away(is, reason) {
  const kept = state ? "Your answer is kept, and sent again until it arrives." : "Trying again.";
  const text = reason ? `The server cannot save it: ${reason} ${kept}` : `The server does not answer. ${kept}`;
  if (is) notice("hint", ""); // of what was done before
  notice("away", is ? text : "", "bad");
}

async function send(path, body) {
  if (busy && body) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  window.addEventListener("beforeunload", warn);
  try {
    const found = await ask(path, body, away);
    notice("refused", "");
    take(found);
  } catch (error) {
    await refused(error);
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
    window.removeEventListener("beforeunload", warn);
  }
}

function warn(event) {
  event.preventDefault();
}

async function refused(error) {
  if (!(error instanceof Refused)) throw error;
  if (error.status === 403) {
    notice("refused", "The key of this page is not valid any more. Open the address that the command has printed.", "bad");
  } else if (error.status === 409) {
    notice("refused", "The session went on elsewhere; this is where it is now.", "bad");
    take(await ask("api/state", null, away));
  } else {
    notice("refused", `Not taken: ${error.message}`, "bad");
  }
}

function decide(answer, spans) {
  if (busy || !state.task) return;
  const body = { number: state.number, sentence: state.task.sentence, answer, spans };
  send("api/decide", body);
}

function undo() {
  if (busy) return;
  if (state.task && sentence.takeBack()) say("Change taken back.");
  else if (state.last !== null) send("api/undo", { number: state.last });
  else say("There is nothing to undo.", true);
}

// What the server says becomes what is shown

function take(found) {
  const same = state && state.task && found.task && state.task.sentence === found.task.sentence
    && state.number === found.number;
  const first = state === null;
  state = found;
  if (first) drawSession();
  if (same) keepSentence();
  else showTask(found);
  drawProgress(found.progress);
  at("undo").disabled = at("pause-undo").disabled = found.last === null;
}

function keepSentence() {
  drawCandidates(); // a model may have come meanwhile: what is shown stays as it is
}

function showTask({ task, undone, progress, session }) {
  at("task").hidden = !task;
  at("pause").hidden = Boolean(task);
  if (!task) {
    drawPause(progress);
    return;
  }
  const back = undone && undone.sentence === task.sentence && undone.answer === "accept";
  const best = task.suggestions.length ? task.suggestions[0].spans : [];
  at("why").textContent = `${WHY[task.why]} · sentence ${count(task.sentence + 1)}`;
  at("before").textContent = task.before;
  at("after").textContent = task.after;
  everything = false;
  sentence.show(task, session.nested, back ? undone.spans : best);
  const where = at("task");
  where.classList.remove("fresh");
  void where.offsetWidth; // lets the animation begin anew
  where.classList.add("fresh");
  drawAnswer();
  say(`${sentence.text(0, task.words.length)} ${inWords(sentence.spans)}`);
  at("sentence").focus({ preventScroll: true });
  window.scrollTo({ top: 0 });
}

function inWords(spans) {
  if (!spans.length) return "No mention.";
  return spans.map(([start, end, name]) => `${name}: ${sentence.told(start, end)}.`).join(" ");
}

function drawPause(progress) {
  const text = progress.finished
    ? `All ${count(progress.read)} sentences are read.`
    : "The next sentences are being chosen …";
  at("pause-text").textContent = text;
  at("pause-export").hidden = !progress.finished;
  at("export").textContent = `spacy-iobes convert ${state.session.name} FILE`;
  say(text);
}

function drawSession() {
  const { labels, name } = state.session;
  document.title = `${labels.join(", ")} · ${name}`;
  at("title").textContent = name;
  const free = new Set([..."abcdefghijklmnopqrstuvwxyz"].filter((letter) => !RESERVED.includes(letter)));
  letters = {};
  for (const one of labels) {
    const key = [...one.toLowerCase()].find((letter) => free.has(letter)) || [...free][0] || "";
    free.delete(key);
    letters[one] = key;
  }
  at("labels").classList.toggle("single", labels.length === 1);
  choose(labels[0]);
}

function choose(name) {
  label = name;
  const buttons = state.session.labels.map((one, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = `c${i % COLOURS}`;
    button.setAttribute("aria-pressed", one === label);
    button.append(one);
    if (letters[one]) {
      const key = document.createElement("kbd");
      key.textContent = letters[one];
      button.append(" ", key);
      button.setAttribute("aria-keyshortcuts", letters[one]);
    }
    button.addEventListener("click", () => {
      choose(one);
      at("sentence").focus({ preventScroll: true });
    });
    return button;
  });
  at("labels").replaceChildren(...buttons);
}

function drawAnswer() {
  at("clear").disabled = !sentence.spans.length;
  drawAccept();
  drawCandidates();
}

// The button does what the key does: words that are selected become a mention first.
function drawAccept() {
  const mentions = sentence.spans.length;
  const all = mentions > 1 ? `${mentions} mentions` : `${mentions || "no"} mention`;
  at("accept-wide").textContent = sentence.selecting ? "Add mention" : `Accept ${all}`;
  at("accept-narrow").textContent = sentence.selecting ? "Add" : `Accept ${mentions || "none"}`;
}

function accept() {
  if (sentence.selecting) sentence.add(label);
  else decide("accept", sentence.spans);
}

// What one key accepts: the best, others that are likely, and that there is none; more, if asked for.
function candidates(more = everything) {
  const all = (state.task ? state.task.suggestions : []).slice(0, 9);
  const good = more
    ? all.filter((one, i) => i < 3 || one.probability >= 0.005)
    : all.filter((one, i) => i === 0 || one.probability >= LIKELY).slice(0, FEW);
  return all.filter((one) => good.includes(one) || !one.spans.length);
}

function drawCandidates() {
  const shown = JSON.stringify(sentence.spans);
  const rows = candidates().map((one, i) => {
    const row = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "candidate";
    button.setAttribute("aria-keyshortcuts", i + 1);
    button.setAttribute("aria-label", `Accept ${i + 1}: ${inWords(one.spans)} ${percent(one.probability)}`);
    if (JSON.stringify(one.spans) === shown) button.setAttribute("aria-current", "true");
    button.append(keyOf(i + 1), mentionsOf(one.spans), chanceOf(one.probability));
    button.addEventListener("click", () => decide("accept", one.spans));
    row.append(button);
    return row;
  });
  at("more").hidden = rows.length === candidates(true).length;
  at("suggested").hidden = !rows.length;
  at("candidates").replaceChildren(...rows);
}

function keyOf(number) {
  const key = document.createElement("kbd");
  key.textContent = number;
  return key;
}

function mentionsOf(spans) {
  const what = document.createElement("span");
  what.className = spans.length ? "what" : "none";
  if (!spans.length) what.textContent = "no mention";
  for (const [start, end, name] of spans) {
    const kind = document.createElement("i");
    kind.className = `c${Math.max(0, state.session.labels.indexOf(name)) % COLOURS}`;
    kind.textContent = name;
    what.append(sentence.told(start, end), kind);
  }
  return what;
}

function chanceOf(probability) {
  const chance = document.createElement("span");
  chance.className = "chance";
  const bar = document.createElement("b");
  bar.style.setProperty("--chance", `${probability * 100}%`);
  const number = document.createElement("span");
  number.textContent = percent(probability);
  chance.append(bar, number);
  return chance;
}

// Progress

function drawProgress(progress) {
  const { estimate, training } = progress;
  const known = estimate && estimate.coverage !== null && progress.mentions > 0;
  at("coverage").textContent = progress.finished ? "100 %" : known ? percent(estimate.coverage) : "–";
  at("interval").textContent = intervalOf(progress);
  at("read").textContent = `${count(progress.read)} of ${count(state.session.sentences)}`;
  at("mentions").textContent = count(progress.mentions);
  at("corrected").textContent = known && estimate.corrected !== null ? percent(estimate.corrected) : "–";
  const later = progress.skipped ? ` (${count(progress.skipped)} skipped)` : "";
  at("left").textContent = count(progress.left) + later;
  at("forecast").textContent = forecastOf(progress);
  at("training").textContent = trainingOf(progress);
  at("training").classList.toggle("bad", training.status === "failed");
  const now = estimate && progress.read ? [estimate] : [];
  const points = [...progress.rounds.filter((one) => one.read < progress.read), ...now];
  const words = known
    ? `Estimated coverage ${percent(estimate.coverage)} after ${count(progress.read)} sentences. ${intervalOf(progress)}`
    : "Nothing is estimated yet.";
  at("plot").replaceChildren(plot(points, state.session.target, words));
  const told = sessionStorage.getItem(GOING_ON) === state.session.name;
  notice("stop", told ? "" : progress.stop, "good");
}

function intervalOf({ estimate, mentions, finished }) {
  if (finished) return "Every sentence is read.";
  if (!estimate) return "Known when the first batch is read.";
  if (!mentions) return "No mention was found yet.";
  if (!estimate.audited || (estimate.low <= 0 && estimate.high >= 1)) return "The audit says nothing yet.";
  const level = Math.round(estimate.level * 100);
  return `${percent(estimate.low)} to ${percent(estimate.high)} by the audit (${level} %)`;
}

function forecastOf({ forecast, finished }) {
  if (finished || forecast === null) return "";
  if (forecast === 0) return `The model sees ${percent(state.session.target)} reached.`;
  const sentences = forecast === 1 ? "sentence" : "sentences";
  return `About ${count(forecast)} more ${sentences} to ${percent(state.session.target)}, if the model is right.`;
}

function trainingOf({ training: { status, seconds, trouble }, read }) {
  if (status === "training") return "Learning from your answers …";
  if (status === "failed") return `Learning failed, going on without: ${trouble}`;
  return seconds && read ? `Learned from your answers in ${seconds.toFixed(1)} s.` : "";
}

// While something is learnt, or the next sentences are chosen, the server is asked now and then.
async function look() {
  if (state && !busy && (state.progress.training.status === "training" || (!state.task && !state.progress.finished))) {
    const before = state;
    try {
      const found = await ask("api/state", null, away);
      if (!busy && state === before) take(found); // unless something newer came meanwhile
    } catch (error) {
      await refused(error);
    }
  }
  setTimeout(look, 700);
}

// Keys

const ONCE = new Set(["Enter", "s", "x", "z", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);

function keyed(event) {
  if (at("help").open) {
    if (event.key === "?") at("help").close();
    return;
  }
  if (busy && event.key !== "Tab") return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const undoing = key === "z" && (event.ctrlKey || event.metaKey);
  if ((event.ctrlKey || event.metaKey || event.altKey) && !undoing) return;
  const onButton = event.target.closest && event.target.closest("button");
  if (onButton && (key === "Enter" || key === " ")) return;
  if (event.repeat && ONCE.has(key)) return event.preventDefault();
  if (act(key, event.shiftKey)) event.preventDefault();
}

// Whether a key meant something.
function act(key, shift) {
  if (key === "?") return help() || true;
  if (key === "z") return undo() || true;
  if (key === "Escape" && notices.stop && !sentence.marking) return wentOn() || true;
  if (!state || !state.task) return false;
  const arrows = { ArrowLeft: "left", ArrowRight: "right", Home: "first", End: "last" };
  if (key in arrows) return sentence.move(arrows[key], shift || sentence.selecting) || true;
  if (key === " ") return sentence.begin() || true;
  if (key === "Escape") return sentence.leave() || true;
  if (key === "Tab") return sentence.selecting && (nextLabel(shift ? -1 : 1) || true);
  if (key === "Enter") return accept() || true;
  if (key === "Backspace" || key === "Delete") return sentence.removeAtCursor() || true;
  if (key === "0") return clear() || true;
  if (key === "s") return decide("skip", []) || true;
  if (key === "x") return decide("reject", []) || true;
  if (/^[1-9]$/.test(key)) return numbered(Number(key) - 1);
  return lettered(key);
}

function help() {
  at("help").showModal();
  at("help").scrollTop = 0; // not where the button is that has the focus
}

function clear() {
  sentence.set([]);
  say("No mention.");
}

function nextLabel(step) {
  const { labels } = state.session;
  choose(labels[(labels.indexOf(label) + step + labels.length) % labels.length]);
  say(label);
}

function numbered(i) {
  if (sentence.selecting) {
    const wanted = state.session.labels[i];
    return Boolean(wanted) && make(wanted);
  }
  const candidate = candidates()[i];
  if (candidate) decide("accept", candidate.spans);
  return Boolean(candidate);
}

function lettered(key) {
  const wanted = state.session.labels.find((one) => letters[one] === key);
  return Boolean(wanted) && make(wanted);
}

function make(wanted) {
  choose(wanted);
  if (sentence.selected) sentence.add(wanted);
  return true;
}

// Buttons

function pressed(id, action) {
  at(id).addEventListener("click", () => {
    action();
    at("sentence").focus({ preventScroll: true });
  });
}

pressed("accept", accept);
pressed("clear", clear);
pressed("skip", () => decide("skip", []));
pressed("reject", () => decide("reject", []));
pressed("undo", undo);
pressed("more", () => {
  everything = true;
  drawCandidates();
});
pressed("pause-undo", undo);
at("help-open").addEventListener("click", help);
document.addEventListener("keydown", keyed);

history.replaceState(null, "", location.pathname); // the key of the page is in a cookie by now
send("api/state", null);
look();
