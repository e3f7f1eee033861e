/* The buttons of a gauge as one toolbar: one stop of the Tab key, and the arrow keys within it.

   ipywidgets draws the buttons, enables and disables them, and cannot set tabindex. So it is put right at the moment
   when it counts, before a key moves the focus, and nothing watches the page in the meantime. */

const TOOLBAR = '.jctx-toolbar';
const ITEM = 'button';
const NAME = 'Conversation';
const STOP = 'data-jctx-stop'; // a button that is drawn anew has tabindex 0 as well

// where a key leads, from an item's place among `count`
const MOVES = {
  ArrowLeft: (place, count) => (place + count - 1) % count,
  ArrowRight: (place, count) => (place + 1) % count,
  Home: () => 0,
  End: (place, count) => count - 1
};

export function toolbars() {
  return {
    id: 'jupyter-ctx:toolbars',
    description: 'Makes the buttons of a gauge one stop of the Tab key, with arrow keys between them.',
    autoStart: true,
    activate() {
      // on the window, and on the way down: before the application takes arrows for moves between cells
      window.addEventListener('keydown', pressed, true);
      window.addEventListener('focusin', ({ target }) => {
        const toolbar = target.closest?.(TOOLBAR);
        if (toolbar) arrange(toolbar, target);
      });
    }
  };
}

function pressed(event) {
  if (event.key === 'Tab') {
    for (const toolbar of document.querySelectorAll(TOOLBAR)) arrange(toolbar, document.activeElement);
  } else if (event.key in MOVES && !(event.ctrlKey || event.altKey || event.metaKey || event.shiftKey)) {
    move(event);
  }
}

function move(event) {
  const toolbar = event.target.closest?.(TOOLBAR);
  const items = toolbar ? usable(toolbar) : [];
  const place = items.indexOf(event.target);
  if (place < 0) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const next = items[MOVES[event.key](place, items.length)];
  next.focus(); // what follows is in focusin
}

/** Make one item a stop of the Tab key: the one with the focus, else the one that had it last, else the first. */
function arrange(toolbar, focused) {
  if (toolbar.getAttribute('role') !== 'toolbar') {
    toolbar.setAttribute('role', 'toolbar');
    toolbar.setAttribute('aria-label', NAME);
  }
  const items = usable(toolbar);
  const stop = items.find(item => item === focused) ?? items.find(item => item.hasAttribute(STOP)) ?? items[0];
  for (const item of toolbar.querySelectorAll(ITEM)) {
    item.tabIndex = item === stop ? 0 : -1;
    item.toggleAttribute(STOP, item === stop);
  }
}

function usable(toolbar) {
  return [...toolbar.querySelectorAll(ITEM)].filter(item => !item.disabled && item.checkVisibility());
}
