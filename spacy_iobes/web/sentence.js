// A sentence with its mentions: drawn, and changed by pointer and keyboard.
// Spans are [start, end, label] in tokens, as on the server.

const BAR = 3; // pixels that a mention is underlined by

// Those that hold others before these.
const inOrder = (spans) =>
  [...spans].sort((a, b) => a[0] - b[0] || b[1] - a[1] || (a[2] < b[2] ? -1 : 1));

export class Sentence {
  // `changed` is called after every change of mentions, `marked` after every change of the cursor or
  // the selection, `say` with what a screen reader should read.
  constructor(element, { colour, changed, marked, say, wanted }) {
    Object.assign(this, { element, colour, changed, marked, say, wanted });
    this.words = [];
    this.cursor = this.anchor = this.pressed = null;
    element.addEventListener("pointerdown", (event) => this.press(event));
    element.addEventListener("pointermove", (event) => this.drag(event));
    element.addEventListener("pointerup", () => this.release());
    element.addEventListener("pointercancel", () => this.forget());
    element.addEventListener("lostpointercapture", () => this.release());
    new ResizeObserver(() => this.fitNames()).observe(element);
  }

  show({ words, spaces, known }, nested, spans) {
    Object.assign(this, { words, spaces, known, nested, spans: inOrder(spans), before: [] });
    this.cursor = this.anchor = this.pressed = null;
    this.draw();
  }

  get selecting() {
    return this.anchor !== null;
  }

  // Whether the cursor is at a word, or some are selected.
  get marking() {
    return this.cursor !== null;
  }

  get selected() {
    if (!this.selecting) return this.cursor === null ? null : [this.cursor, this.cursor + 1];
    return [Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor) + 1];
  }

  text(start, end) {
    const part = this.words.slice(start, end);
    return part.map((word, i) => word + (this.spaces[start + i] ? " " : "")).join("").trim();
  }

  // The same, and which one it is if the sentence says it several times.
  told(start, end) {
    const same = (at) => this.words.slice(start, end).every((word, i) => word === this.words[at + i]);
    const places = this.words.map((_, at) => at).filter(same);
    const which = places.length > 1 ? ` (${places.indexOf(start) + 1} of ${places.length})` : "";
    return this.text(start, end) + which;
  }

  // Changes of mentions

  set(spans) {
    const next = inOrder(spans);
    if (JSON.stringify(next) === JSON.stringify(this.spans)) return this.mark();
    this.before.push(this.spans);
    this.spans = next;
    this.draw();
    return this.changed();
  }

  takeBack() {
    if (!this.before.length) return false;
    this.spans = this.before.pop();
    this.anchor = null;
    this.draw();
    this.changed();
    return true;
  }

  add(label) {
    const [start, end] = this.selected;
    this.anchor = this.pressed = null;
    const overlaps = ([s, e]) => s < end && start < e;
    const inTheWay = !this.nested && this.known.find(overlaps);
    if (inTheWay) {
      this.say(`${inTheWay[2]} “${this.text(...inTheWay)}” is known already, and mentions do not nest here.`, true);
      return this.mark();
    }
    const same = ([s, e, l]) => s === start && e === end && l === label;
    const rest = this.spans.filter((span) => (this.nested ? !same(span) : !overlaps(span)));
    this.say(`${label}: ${this.text(start, end)}`);
    return this.set([...rest, [start, end, label]]);
  }

  remove(span) {
    this.say(`Removed ${span[2]}: ${this.text(span[0], span[1])}`);
    this.set(this.spans.filter((other) => other !== span));
  }

  removeAtCursor() {
    const at = this.spans.filter(([s, e]) => s <= this.cursor && this.cursor < e);
    const shortest = at.sort((a, b) => a[1] - a[0] - (b[1] - b[0]))[0];
    if (this.cursor !== null && shortest) this.remove(shortest);
    else this.say("No mention here.");
  }

  // The cursor

  move(to, extend) {
    const last = this.words.length - 1;
    if (this.cursor === null) {
      this.cursor = to === "right" || to === "first" ? 0 : last;
      if (extend) this.anchor = this.cursor;
    } else {
      if (extend && !this.selecting) this.anchor = this.cursor;
      const step = { left: this.cursor - 1, right: this.cursor + 1, first: 0, last }[to];
      this.cursor = Math.max(0, Math.min(last, step));
    }
    this.mark();
    this.tell();
    this.nodes[this.cursor].token.scrollIntoView({ block: "nearest" });
  }

  begin() {
    if (this.cursor === null) this.cursor = 0;
    this.anchor = this.selecting ? null : this.cursor;
    this.mark();
    this.tell();
  }

  leave() {
    if (this.selecting) this.anchor = null;
    else this.cursor = null;
    this.mark();
  }

  tell() {
    const around = this.spans.filter(([s, e]) => s <= this.cursor && this.cursor < e);
    const inside = around.map(([s, e, label]) => `, in ${label} ${this.text(s, e)}`).join("");
    const [start, end] = this.selected;
    this.say(this.selecting ? `Selected: ${this.text(start, end)}` : this.words[this.cursor] + inside);
  }

  // Mouse, pen and finger

  tokenAt(event) {
    const found = document.elementFromPoint(event.clientX, event.clientY);
    const token = found && found.closest(".token, .gap");
    return token && this.element.contains(token) ? Number(token.dataset.token) : null;
  }

  press(event) {
    if (event.button || !event.isPrimary || event.target.closest("button")) return;
    const at = this.tokenAt(event);
    if (at === null) return;
    this.element.setPointerCapture(event.pointerId); // wherever it is let go, that is told here
    this.pressed = this.anchor = this.cursor = at;
    this.mark();
  }

  drag(event) {
    if (this.pressed === null || !event.isPrimary) return;
    if (!event.buttons) return this.release();
    const at = this.tokenAt(event);
    if (at === null || at === this.cursor) return;
    this.cursor = at;
    this.mark();
  }

  // What is selected becomes a mention, also if the pointer has left the sentence by now.
  release() {
    if (this.pressed === null) return;
    this.pressed = null;
    const [start, end] = this.selected;
    const covered = this.spans.some(([s, e]) => s <= start && end <= e);
    if (end - start === 1 && covered && !this.nested) {
      this.anchor = null; // a click within a mention only goes there
      this.tell();
    } else {
      this.add(this.wanted());
    }
    this.cursor = null;
    this.mark();
  }

  forget() {
    this.pressed = this.anchor = this.cursor = null;
    this.mark();
  }

  // Drawing

  // The level of each span: the shortest are nearest to the text, and none is drawn over another.
  levels(spans) {
    const taken = [];
    const found = new Map();
    for (const span of [...spans].sort((a, b) => a[1] - a[0] - (b[1] - b[0]) || a[0] - b[0])) {
      const free = (level) => !taken[level].some(([s, e]) => s < span[1] && span[0] < e);
      let level = taken.findIndex((_, i) => free(i));
      if (level < 0) level = taken.push([]) - 1;
      taken[level].push(span);
      found.set(span, level);
    }
    return found;
  }

  draw() {
    const levels = this.levels([...this.known, ...this.spans]);
    const depth = Math.max(1, ...[...levels.values()].map((level) => level + 1));
    this.element.style.setProperty("--levels", depth);
    this.nodes = this.words.map((word, i) => ({
      token: this.drawToken(word, i, levels, depth),
      gap: this.spaces[i] && i + 1 < this.words.length ? this.drawGap(i, levels, depth) : null,
    }));
    const focused = document.activeElement && this.element.contains(document.activeElement);
    const every = document.createDocumentFragment(); // a sentence may have more words than a call arguments
    for (const { token, gap } of this.nodes) {
      every.append(token);
      if (gap) every.append(gap);
    }
    this.element.replaceChildren(every);
    if (focused) this.element.focus({ preventScroll: true });
    this.fitNames();
    this.mark();
  }

  // Shows the cursor and what is selected, without drawing the sentence anew.
  mark() {
    for (const node of this.element.querySelectorAll(".chosen, .cursor")) {
      node.classList.remove("chosen", "cursor");
    }
    const [start, end] = this.selecting ? this.selected : [0, 0];
    for (let i = start; i < end; i += 1) {
      const { token, gap } = this.nodes[i];
      token.classList.add("chosen");
      if (gap && i + 1 < end) gap.classList.add("chosen");
    }
    if (this.cursor !== null) this.nodes[this.cursor].token.classList.add("cursor");
    this.marked();
  }

  drawToken(word, i, levels, depth) {
    const token = document.createElement("span");
    token.className = "token";
    token.dataset.token = i;
    const text = document.createElement("span");
    text.className = "text";
    text.textContent = word;
    token.append(text);
    this.underline(token, levels, depth, i, (span) => span[1] === i + 1);
    for (const [span, level] of levels) if (span[0] === i) token.append(this.drawName(span, level));
    return token;
  }

  drawGap(i, levels, depth) {
    const gap = document.createElement("span");
    gap.className = "gap";
    gap.dataset.token = i;
    gap.textContent = " ";
    const through = new Map([...levels].filter(([span]) => span[0] <= i && i + 1 < span[1]));
    this.underline(gap, through, depth, i, () => false);
    return gap;
  }

  // One bar for each span that covers token i; where a span ends, its bar ends a little earlier.
  underline(element, levels, depth, i, ends) {
    const images = [];
    const sizes = [];
    const places = [];
    for (const [span, level] of levels) {
      if (i < span[0] || i >= span[1]) continue;
      const colour = this.isKnown(span) ? "var(--line)" : `var(--c${this.colour(span[2])})`;
      images.push(`linear-gradient(${colour} 0 0)`);
      sizes.push(`${ends(span) ? "calc(100% - 3px)" : "100%"} ${BAR}px`);
      places.push(`left 0 bottom calc(${depth - level} * var(--row) - ${BAR + 1}px)`);
    }
    element.style.backgroundImage = images.join(", ");
    element.style.backgroundSize = sizes.join(", ");
    element.style.backgroundPosition = places.join(", ");
  }

  isKnown(span) {
    return this.known.includes(span);
  }

  drawName(span, level) {
    const known = this.isKnown(span);
    const name = document.createElement(known ? "span" : "button");
    name.className = known ? "name known" : `name c${this.colour(span[2])}`;
    name.textContent = span[2];
    name.style.setProperty("--level", level);
    name.dataset.level = level;
    if (!known) {
      name.type = "button";
      name.tabIndex = -1; // the keyboard has its own way
      name.setAttribute("aria-label", `Remove ${span[2]}: ${this.text(span[0], span[1])}`);
      name.title = `${span[2]}: click to remove`;
      name.addEventListener("click", () => this.remove(span));
    } else {
      name.title = `${span[2]}, known before`;
    }
    return name;
  }

  // Names that would run into the next one of their level and line are cut short.
  fitNames() {
    const names = [...this.element.querySelectorAll(".name")];
    for (const name of names) name.style.maxWidth = "";
    const right = this.element.getBoundingClientRect().right;
    const boxes = names.map((name) => ({ name, box: name.getBoundingClientRect() }));
    const limits = boxes.map(({ name, box }) => {
      const others = boxes.filter((o) => o.name !== name && Math.abs(o.box.top - box.top) < 4 && o.box.left > box.left);
      return Math.max(12, Math.min(right, ...others.map((o) => o.box.left - 4)) - box.left);
    });
    boxes.forEach(({ name }, i) => {
      name.style.maxWidth = `${limits[i]}px`;
    });
  }
}
