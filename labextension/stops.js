/* Stop on the card of a run while its cell waits for it: most kernels hear of a click only once the cell has ended. So
   the kernel is interrupted, as the application's own button does. */

const STOP = '.jctx-waited .jctx-cancel';

export function stops() {
  return {
    id: 'jupyter-ctx:stops',
    description: 'Lets Stop on the card of a run interrupt the cell that waits for it.',
    autoStart: true,
    activate({ commands }) {
      const clicked = event => {
        if (!event.target.closest?.(STOP)) return;
        event.stopImmediatePropagation(); // else the kernel would hear of it as well, too late
        commands.execute('notebook:interrupt-kernel');
      };
      window.addEventListener('click', clicked, true);
    }
  };
}
