/* The Markdown of Markdown cells, with the line of the magic as a block of its own before it: else %%chat above a
   line of hyphens would be a heading. Texts that are taken as they are, of which --- separates some, belong to it. */
import { MAGIC, PLAIN } from './prompt_syntax.js';

const OPTION = /(?<=\s)--?[a-z][\w-]*/gi;

/** Return the language of prompts; the other arguments are the modules @codemirror/language and @lezer/highlight. */
export function promptLanguage(markdown, { Language }, { tags }) {
  const parser = markdown.parser.configure({
    defineNodes: [
      { name: 'Magic', block: true },
      { name: 'MagicName', style: tags.keyword },
      { name: 'MagicOption', style: tags.attributeName }
    ],
    parseBlock: [{ name: 'Magic', before: 'LinkReference', parse }]
  });
  return new Language(markdown.data, parser, [], 'jupyter-ctx-prompt');
}

function parse(context, line) {
  const name = MAGIC.exec(line.text);
  if (!name || context.input.read(0, context.lineStart).trim()) return false;
  const [start, isPlain] = [context.lineStart, PLAIN.test(line.text)];
  const element = (type, from, length, within) => context.elt(type, start + from, start + from + length, within);
  const options = [...line.text.matchAll(OPTION)].map(found => element('MagicOption', found.index, found[0].length));
  while (context.nextLine() && isPlain);
  const parts = [element('MagicName', 0, name[0].length), ...options];
  context.addElement(context.elt('Magic', start, context.prevLineEnd(), parts));
  return true;
}
