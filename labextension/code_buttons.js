/* Copy and Insert below on the code blocks of answers, without a kernel and in notebooks that are not trusted, too.

   A block has its buttons only while the pointer or the focus is in it. So they are no stops of the Tab key for who
   passes by, are in nothing that is saved or selected, and answers are drawn without a word to this module. */
import { ADDED } from './answers.js';
import { addStyle, button, element, spoken } from './elements.js';

const BLOCK = '.jctx-answer .highlight';
const SHOWN_FOR = 1500; // ms

const STYLE = `
  .highlight:has(> .jctx-code-buttons) { position: relative; }
  .jctx-code-buttons { position: absolute; top: 4px; right: 4px; display: flex; gap: 4px; user-select: none; }
  .jctx-code-buttons button {
    padding: 1px 8px; cursor: pointer;
    font: var(--jp-ui-font-size0, 11px) / 1.5 var(--jp-ui-font-family, sans-serif);
    color: var(--jp-ui-font-color1, #333); background: var(--jp-layout-color1, #fff);
    border: 1px solid var(--jp-border-color1, #bdbdbd); border-radius: 3px;
  }
  .jctx-code-buttons button:hover { background: var(--jp-layout-color2, #eee); }
  .jctx-code-buttons button:focus-visible { outline: 2px solid var(--jp-brand-color1, #1976d2); outline-offset: 1px; }
  .jctx-spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  @media print { .jctx-code-buttons { display: none; } }`;

export function codeButtons() {
  return {
    id: 'jupyter-ctx:code-buttons',
    description: 'Offers to copy the code blocks of answers, and to insert them as cells.',
    autoStart: true,
    activate(app) {
      addStyle(STYLE);
      const said = spoken();
      document.body.append(said);
      const enter = ({ target }) => {
        const block = target.closest?.(BLOCK);
        if (block) addButtons(app, block, said);
      };
      const leave = ({ target, relatedTarget }) => {
        const block = target.closest?.(BLOCK);
        if (block && !block.contains(relatedTarget)) removeUnused(block);
      };
      document.addEventListener('pointerover', enter);
      document.addEventListener('pointerout', leave);
      document.addEventListener('focusin', enter);
      document.addEventListener('focusin', makeReachable);
      document.addEventListener('focusout', leave);
    }
  };
}

/** Let the Tab key reach the blocks of a cell that has the focus: the sanitizer takes their tabindex away. */
function makeReachable({ target }) {
  const blocks = target.closest?.('.jp-Cell')?.querySelectorAll(`${BLOCK} pre:not([tabindex])`) ?? [];
  for (const block of blocks) block.tabIndex = 0;
}

function addButtons(app, block, said) {
  if (block.querySelector('.jctx-code-buttons')) return;
  const copy = button('Copy', 'jctx-copy', async () => {
    const text = (await copied(codeOf(block))) ? 'Copied' : 'Not copied: the browser refused';
    copy.textContent = said.textContent = text;
    setTimeout(() => {
      copy.textContent = 'Copy';
      said.textContent = '';
    }, SHOWN_FOR);
  });
  const insert = button('Insert below', 'jctx-insert', () => insertBelow(app, block));
  // else the application takes Enter for "edit this cell"
  const row = element('div', 'jctx-code-buttons', { [ADDED]: '', 'data-lm-suppress-shortcuts': 'true' });
  row.append(copy, ...(cellOf(app, block) < 0 ? [] : [insert]));
  block.append(row); // behind the code: the Tab key comes to it next
}

function removeUnused(block) {
  // the focus is on its way while focusout is told
  setTimeout(() => {
    if (block.matches(':hover') || block.contains(document.activeElement)) return;
    block.querySelector('.jctx-code-buttons')?.remove();
  });
}

/** Return the index of the cell of the notebook in sight that shows a block, or -1. */
function cellOf(app, block) {
  return app.shell.currentWidget?.content?.widgets?.findIndex?.(cell => cell.node.contains(block)) ?? -1;
}

/** Put the code into a new cell below the answer, and do not run it. */
async function insertBelow(app, block) {
  const { content } = app.shell.currentWidget;
  content.deselectAll();
  content.activeCellIndex = cellOf(app, block);
  await app.commands.execute('notebook:insert-cell-below');
  content.activeCell.model.sharedModel.setSource(codeOf(block));
}

/** Return the code as it stands in the answer, without the line end that closes the block. */
function codeOf(block) {
  return block.querySelector('pre').textContent.replace(/\n$/, '');
}

/** Put text on the clipboard, and return whether that was allowed. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text); // not there in pages over plain HTTP
    return true;
  } catch {
    const put = event => {
      event.clipboardData.setData('text/plain', text);
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    document.addEventListener('copy', put, { capture: true, once: true });
    const isDone = document.execCommand('copy');
    document.removeEventListener('copy', put, { capture: true });
    return isDone;
  }
}
