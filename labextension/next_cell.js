/* After %chat fix and %chat code the selected cell is the one that they have put below: the application has moved on to
   the cell after it while they ran. */

const PUTS_A_CELL = /^\s*%{1,2}(chat|ctx)[ \t]+(fix|code)\b/;

export async function nextCell(load) {
  const [{ NotebookActions }] = await load('@jupyterlab/notebook');

  return {
    id: 'jupyter-ctx:next-cell',
    description: 'Selects the cell that %chat fix or %chat code has put below.',
    autoStart: true,
    activate() {
      NotebookActions.executed.connect((_, { notebook, cell, success }) => {
        if (!success || !PUTS_A_CELL.test(cell.model.sharedModel.source)) return;
        const place = notebook.widgets.indexOf(cell);
        const wentOn = notebook.activeCellIndex === place + 2; // and not somewhere else meanwhile
        if (!wentOn || !notebook.widgets[place + 1].model.sharedModel.source) return;
        notebook.mode = 'command';
        notebook.activeCellIndex = place + 1;
        void notebook.scrollToItem?.(place + 1);
      });
    }
  };
}
