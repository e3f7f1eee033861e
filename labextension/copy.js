/* A Copy button on the code blocks of answers, without a kernel and in notebooks that are not trusted, too.

   A block has its button only while the pointer or the focus is in it. So it is no stop of the Tab key for who passes
   by, is in nothing that is saved or selected, and answers may be drawn and replaced without a word to this module. */
import { ADDED } from './morph.js';
import { addStyle } from './style.js';

const BLOCK = '.jctx-answer .highlight';
const SHOWN_FOR = 1500; // ms

const STYLE = `
  .highlight:has(> .jctx-copy) { position: relative; }
  .jctx-copy {
    position: absolute; top: 4px; right: 4px; padding: 1px 8px; cursor: pointer; user-select: none;
    font: var(--jp-ui-font-size0, 11px) / 1.5 var(--jp-ui-font-family, sans-serif);
    color: var(--jp-ui-font-color1, #333); background: var(--jp-layout-color1, #fff);
    border: 1px solid var(--jp-border-color1, #bdbdbd); border-radius: 3px;
  }
  .jctx-copy:hover { background: var(--jp-layout-color2, #eee); }
  .jctx-copy:focus-visible { outline: 2px solid var(--jp-brand-color1, #1976d2); outline-offset: 1px; }
  .jctx-copy-said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  @media print { .jctx-copy { display: none; } }`;

export function copyButtons() {
  return {
    id: 'jupyter-ctx:copy-buttons',
    description: 'Offers to copy the code blocks of answers.',
    autoStart: true,
    activate() {
      addStyle(STYLE);
      const said = spoken();
      const enter = ({ target }) => {
        const block = target.closest?.(BLOCK);
        if (block) addButton(block, said);
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

function addButton(block, said) {
  if (block.querySelector('.jctx-copy')) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'jctx-copy';
  button.textContent = 'Copy';
  button.title = 'Copy this code';
  button.setAttribute(ADDED, '');
  button.dataset.lmSuppressShortcuts = 'true'; // else the application takes Enter for "edit this cell"
  button.addEventListener('click', async () => {
    const text = (await copied(codeOf(block))) ? 'Copied' : 'Not copied: the browser refused';
    button.textContent = said.textContent = text;
    setTimeout(() => {
      button.textContent = 'Copy';
      said.textContent = '';
    }, SHOWN_FOR);
  });
  block.append(button); // behind the code: the Tab key comes to it next
}

function removeUnused(block) {
  // the focus is on its way while focusout is told
  setTimeout(() => {
    if (block.matches(':hover') || block.contains(document.activeElement)) return;
    block.querySelector('.jctx-copy')?.remove();
  });
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

/** Return an element whose text screen readers say as it changes. */
function spoken() {
  const said = document.createElement('div');
  said.className = 'jctx-copy-said';
  said.setAttribute('role', 'status');
  document.body.append(said);
  return said;
}
