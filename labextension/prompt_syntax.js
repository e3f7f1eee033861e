/* What makes a cell a prompt, and what is filled in within one: as the kernel reads both. */

export const MAGIC = /^%%(?:chat|ctx)(?=\s|$)/;

/** {{ expression }} on one line, with a space inside the braces; the same pattern as in jupyter_ctx/template. */
export const EXPRESSION = /(?<![{$\\])\{\{ [^{}\n]*[^{}\s] \}\}(?!\})/g;

/** Return whether a document of CodeMirror begins with the magic; IPython passes over empty lines above. */
export function isPrompt(doc) {
  for (let number = 1; number <= doc.lines; number++) {
    const { text } = doc.line(number);
    if (text.trim()) return MAGIC.test(text);
  }
  return false;
}
