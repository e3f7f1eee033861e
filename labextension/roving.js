/** Let each toolbar that fits `selector` be one stop of the Tab key, within which arrow keys move. */
export function roving(selector) {
  const within = target => {
    const toolbar = target.closest?.(selector);
    return toolbar ? [...toolbar.querySelectorAll('button')] : [];
  };
  document.addEventListener('focusin', ({ target }) => {
    for (const each of within(target)) each.tabIndex = each === target ? 0 : -1;
  });
  document.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const buttons = within(event.target);
    if (!step || !buttons.length) return;
    buttons.at((buttons.indexOf(event.target) + step) % buttons.length).focus();
    event.preventDefault();
    event.stopPropagation(); // the notebook would take it for its own
  }, true);
}
