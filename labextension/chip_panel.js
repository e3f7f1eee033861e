/* The panel that a click on the chip opens over the page: the gauge, what can be done, and what will be sent.

   It is a popover: Esc, a click outside, a second click and the way back of the focus are the browser's, and no box of
   the application cuts it off. Its HTML was made, and every text in it escaped, by the kernel's own gauge. */
import { button, element } from './elements.js';

const SIGNS = { Summarise: 'Summarise', Trim: 'Trim', Clear: 'Clear', Undo: '↶', Redo: '↷' };
const NOTHING_YET = 'No conversation yet: a cell that begins with %%chat starts one.';
const WAITS = 'A cell is running: buttons act when it has ended.';
let isStyled = false; // whether the page has the gauge's style sheet

export class ChipPanel {
  /** `send` takes a message for the kernel. */
  constructor(opener, send) {
    Object.assign(this, { opener, send });
    this.node = element('section', 'jctx-popup', { role: 'dialog', 'aria-label': 'Context' });
    this.node.popover = 'auto';
    this.node.dataset.lmSuppressShortcuts = 'true';
    this.gauge = element('div', 'jctx-popup-gauge');
    this.details = element('div', 'jctx-lines');
    const toolbar = element('div', 'jctx-toolbar', { role: 'toolbar', 'aria-label': 'Conversation' });
    this.buttons = Object.entries(SIGNS).map(([name, sign]) => {
      const key = name.toLowerCase();
      return button(sign, `jctx-press jctx-key jctx-key-${key}`, () => send({ press: name }));
    });
    this.buttons[0].autofocus = true; // gets the focus at once; the event "toggle" comes later than the next key may
    toolbar.append(...this.buttons);
    this.row = element('div', 'jctx-row');
    this.row.append(toolbar, this.details);
    this.said = element('p', 'jctx-popup-said', { role: 'status', tabindex: '-1' });
    this.waits = element('p', 'jctx-popup-waits');
    this.waits.textContent = WAITS;
    this.request = element('div', 'jctx-request', { role: 'region', 'aria-label': 'What will be sent', tabindex: '0' });
    this.request.addEventListener('click', ({ target }) => {
      const { press, turn, cell } = target.closest('[data-press]')?.dataset ?? {};
      if (press) send(cell ? { press, cell: Number(cell) } : { press, turn: Number(turn) });
    });
    const inside = element('div', 'jctx-panel');
    inside.append(this.gauge, this.row, this.said, this.waits);
    this.node.append(inside, this.request);
    this.node.addEventListener('beforetoggle', event => event.newState === 'open' && this.begin());
    this.node.addEventListener('toggle', event => event.newState === 'open' && this.place());
    document.body.append(this.node);
  }

  get isOpen() {
    return this.node.matches(':popover-open');
  }

  open() {
    if (!this.isOpen) this.node.showPopover();
  }

  close() {
    if (this.isOpen) this.node.hidePopover();
  }

  dispose() {
    this.node.remove();
  }

  begin() {
    document.body.append(this.node); // above what was opened since
    this.say('');
    this.fetch();
  }

  /** Ask for what the panel shows. */
  fetch() {
    this.send({ panel: true });
  }

  place() {
    const { left, right, bottom } = this.opener.getBoundingClientRect();
    const width = this.node.offsetWidth;
    const most = document.documentElement.clientWidth - width - 4;
    this.node.style.left = `${Math.max(4, Math.min(right - width / 2, most, Math.max(left, 4)))}px`;
    this.node.style.top = `${bottom + 4}px`;
    this.node.style.maxHeight = `${innerHeight - bottom - 12}px`;
  }

  /** Show a line about what was done; `role` is status, or alert for an error. */
  say(text, role = 'status') {
    this.said.setAttribute('role', role);
    this.said.textContent = text;
  }

  /** Draw what the chip knows: what the buttons undo, and whether they have to wait. */
  draw(figures, isBusy) {
    const [, , , undo, redo] = this.buttons;
    undo.setAttribute('aria-label', `Undo: ${figures.undo || 'nothing'}`);
    redo.setAttribute('aria-label', `Redo: ${figures.redo || 'nothing'}`);
    this.node.classList.toggle('jctx-busy', isBusy);
    this.node.classList.toggle('jctx-nothing', !('level' in figures));
    if (!('level' in figures)) this.say(NOTHING_YET);
  }

  /** Draw what the kernel has sent for the panel. */
  fill({ style, gauge, details, buttons, request }) {
    if (!isStyled) document.head.insertAdjacentHTML('beforeend', style);
    isStyled = true;
    replace(this.gauge, gauge);
    replace(this.details, details);
    replace(this.request, request);
    buttons.forEach(([plan, isPossible], index) => {
      this.buttons[index].title = plan;
      this.buttons[index].setAttribute('aria-disabled', String(!isPossible)); // not disabled: it says why
    });
    this.place();
  }
}

/** Draw HTML anew only where it is another: what has the focus keeps it. What was unfolded stays so. */
function replace(place, html) {
  if (place.drawn === html) return;
  const open = [...place.querySelectorAll('details[open]')].map(each => each.dataset.key);
  const focused = place.contains(document.activeElement);
  place.innerHTML = place.drawn = html;
  for (const each of place.querySelectorAll('details')) each.open = open.includes(each.dataset.key);
  if (focused) place.focus();
}
