/* Change a part of the page into another version of it, and leave alone whatever stays the same: an unfolded element,
   a selection, and what is scrolled survive only in nodes that are not replaced. */

const TEXT = Node.TEXT_NODE;
const ELEMENT = Node.ELEMENT_NODE;

/** The attribute of elements that are no part of an answer. */
export const ADDED = 'data-jctx-added';

/** The class of elements whose content is not sent again; what they held before stays. */
const KEPT = 'jctx-kept';

/**
 * Change the element `live` from `before` into `after`.
 *
 * `before` is the element as it was drawn. What others have done to `live` since is theirs, such as formulas that
 * were typeset and `open` on a <details>, and stays wherever `before` and `after` agree. `drawn` is called with each
 * element whose text was put in or changed.
 */
export function morph(live, before, after, drawn) {
  changeAttributes(live, before, after);
  const [olds, news] = [before, after].map(element => [...element.childNodes]);
  const lives = [...live.childNodes].filter(node => !isAdded(node));
  if (!mirrors(lives, olds)) {
    live.replaceChildren(...news.map(copied));
    drawn(live);
    return;
  }
  const [start, oldEnd, newEnd] = differing(olds, news);
  let at = start;
  for (const wanted of news.slice(start, newEnd)) {
    const found = olds.findIndex((old, index) => index >= at && index < oldEnd && isSameKind(old, wanted));
    if (found < 0) {
      const node = copied(wanted);
      live.insertBefore(node, lives[at] ?? null);
      drawn(node.nodeType === ELEMENT ? node : live);
      continue;
    }
    while (at < found) lives[at++].remove();
    change(lives[at], olds[at], wanted, drawn);
    at += 1;
  }
  while (at < oldEnd) lives[at++].remove();
}

function change(live, before, after, drawn) {
  if (before.isEqualNode(after) || isKept(live, after)) return;
  if (live.nodeType === ELEMENT) {
    morph(live, before, after, drawn);
  } else {
    changeText(live, before.data, after.data);
    drawn(live.parentElement);
  }
}

/** Put in only the characters that differ, so that a selection of the others stays. */
function changeText(live, before, after) {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let same = 0; // at the end
  while (same < shorter - start && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  live.replaceData(start, before.length - start - same, after.slice(start, after.length - same));
}

function changeAttributes(live, before, after) {
  for (const { name, value } of after.attributes) {
    if (before.getAttribute(name) !== value) live.setAttribute(name, value);
  }
  for (const { name } of before.attributes) {
    if (!after.hasAttribute(name)) live.removeAttribute(name);
  }
}

/** Return where two lists of nodes begin to differ, and where each ends to. */
function differing(olds, news) {
  const shorter = Math.min(olds.length, news.length);
  let start = 0;
  while (start < shorter && olds[start].isEqualNode(news[start])) start += 1;
  let same = 0; // at the end
  while (same < shorter - start && olds.at(-1 - same).isEqualNode(news.at(-1 - same))) same += 1;
  return [start, olds.length - same, news.length - same];
}

/** Return whether nobody has put in, taken out or rewritten any of these nodes. */
function mirrors(lives, olds) {
  return (
    lives.length === olds.length &&
    lives.every((live, index) => {
      const old = olds[index];
      return live.nodeName === old.nodeName && (live.nodeType !== TEXT || live.data === old.data);
    })
  );
}

/** Return whether this extension has put a node in, such as a button; it comes and goes by itself. */
function isAdded(node) {
  return node.nodeType === ELEMENT && node.hasAttribute(ADDED);
}

/** Return whether `after` only stands in for what `live` shows. */
function isKept(live, after) {
  return after.nodeType === ELEMENT && after.classList.contains(KEPT) && !after.firstElementChild && live.firstElementChild !== null;
}

function isSameKind(a, b) {
  return a.nodeName === b.nodeName && a.className === b.className;
}

function copied(node) {
  return document.importNode(node, true);
}
