/* What makes a cell a prompt, and what is filled in within one: as the kernel reads both. */

export const MAGIC = /^[ \t]*%%(?:chat|ctx)(?=\s|$)/; // IPython takes the indentation of the first line away

/** The line above texts that are taken as they are. */
export const PLAIN = /^[ \t]*%%\w+[ \t]+(?:tokens|next)(?=\s|$)/;

const RAW = /\s--raw(?=\s|$)/;

/** {{ expression }} on one line, with a space inside the braces; the same pattern as in jupyter_ctx/template. */
export const EXPRESSION = /(?<![{$\\])\{\{ [^{}\n]*[^{}\s] \}\}(?!\})/g;

/** Return whether a document of CodeMirror begins with the magic; IPython passes over empty lines above. */
export function isPrompt(doc) {
  return MAGIC.test(firstLine(doc));
}

/** Return whether the line of the magic leaves {{ expressions }} as typed. */
export function isRaw(doc) {
  const line = firstLine(doc);
  return RAW.test(line) || PLAIN.test(line);
}

function firstLine(doc) {
  for (let number = 1; number <= doc.lines; number++) {
    const { text } = doc.line(number);
    if (text.trim()) return text;
  }
  return '';
}
