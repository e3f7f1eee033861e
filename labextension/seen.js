/* What a reader has done to an answer that is about to be drawn anew: unfolded, scrolled and selected parts. */
const UNFOLDED = 'details';
const SCROLLED = ['pre', '.jctx-answer div', '.jctx-thinking [tabindex]']; // each counted apart

/** Return a function that does the same to the answer as it is drawn then. */
export function seen(node) {
  const open = [...node.querySelectorAll(UNFOLDED)].map(element => element.open);
  const scrolls = scrolled(node).map(each => each.map(element => [element.scrollLeft, element.scrollTop]));
  const selected = selection(node);
  return next => {
    next.querySelectorAll(UNFOLDED).forEach((element, index) => {
      if (open[index]) element.open = true;
    });
    scrolled(next).forEach((each, kind) =>
      each.forEach((element, index) => {
        const [left, top] = scrolls[kind][index] ?? [0, 0];
        if (left) element.scrollLeft = left;
        if (top) element.scrollTop = top;
      })
    );
    if (selected) select(next, selected);
  };
}

function scrolled(node) {
  return SCROLLED.map(selector => [...node.querySelectorAll(selector)]);
}

/** Return the selected letters of an answer, and how many come before them; null where none are. */
function selection(node) {
  const now = document.getSelection();
  if (!now?.rangeCount || now.isCollapsed) return null;
  const range = now.getRangeAt(0);
  const answer = answers(node).findIndex(each => each.contains(range.commonAncestorContainer));
  if (answer < 0) return null;
  let start = 0;
  let text = '';
  for (const [element, at, letter] of letters(answers(node)[answer])) {
    const side = range.comparePoint(element, at); // of the point before the letter
    if (side < 0) start += 1;
    else if (side > 0 || !range.isPointInRange(element, at + 1)) break;
    else text += letter;
  }
  return { answer, start, text };
}

/** Select the same letters again, where they are still the same. */
function select(node, { answer, start, text }) {
  const element = answers(node)[answer];
  const found = element ? [...letters(element)].slice(start, start + text.length) : [];
  if (!text || found.map(([, , letter]) => letter).join('') !== text) return;
  const [[first, from], [last, to]] = [found[0], found.at(-1)];
  document.getSelection().setBaseAndExtent(first, from, last, to + 1);
}

function answers(node) {
  return [...node.querySelectorAll('.jctx-answer')];
}

/** Yield the letters of an element, with their places: white space between blocks differs from drawing to drawing. */
function* letters(element) {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (text.parentElement.nodeName === 'STYLE') continue;
    for (let at = 0; at < text.length; at += 1) {
      if (/\S/.test(text.data[at])) yield [text, at, text.data[at]];
    }
  }
}
