/* How the chip and its panel look. Colours are the theme's. */
const INK = 'var(--jp-ui-font-color1, #333)';
const QUIET = 'var(--jp-ui-font-color2, #666)';
const EDGE = 'var(--jp-border-color1, #bdbdbd)';
const PAPER = 'var(--jp-layout-color1, #fff)';
const RAISED = 'var(--jp-layout-color2, #eee)';
const BRAND = 'var(--jp-brand-color1, #1976d2)';
const LEVELS = {
  ok: 'var(--jp-success-color1, #388e3c)',
  half: BRAND,
  high: 'var(--jp-warn-color1, #b26a00)',
  full: 'var(--jp-error-color1, #c62828)',
  over: 'var(--jp-error-color1, #c62828)'
};
const levels = Object.entries(LEVELS).map(([name, colour]) => `.jctx-chip[data-level='${name}'] { --jctx-level: ${colour}; }`);

export const CHIP_STYLE = `
  /* first in the toolbar, which moves what does not fit from its end into "…"; drawn before the kernel's name */
  .jp-NotebookPanel-toolbar > .jp-Toolbar-spacer ~ * { order: 2; }
  .jp-NotebookPanel-toolbar > .jctx-chip { order: 1; }

  /* padding and no margin: the toolbar counts clientWidth, and would push its last item out of the row */
  .jctx-chip { display: flex; align-items: center; flex: 0 0 auto; padding: 0 4px; --jctx-level: ${QUIET}; }
  .jctx-chip.lm-mod-hidden, .jctx-chip [hidden] { display: none; }
  .jctx-chip.jctx-away { opacity: .5; }
  ${levels.join('\n  ')}
  .jctx-chip button, .jctx-press {
    box-sizing: border-box; height: 22px; padding: 0 8px; margin: 0; cursor: pointer; white-space: nowrap;
    font: 12px/20px var(--jp-ui-font-family, system-ui, sans-serif); color: ${INK};
    background: ${PAPER}; border: 1px solid ${EDGE}; border-radius: 11px;
  }
  .jctx-chip .jctx-chip-main {
    display: flex; align-items: center; gap: 6px; padding-right: 5px; border-right: 0; border-radius: 11px 0 0 11px;
  }
  .jctx-chip .jctx-chip-main:has(+ [hidden]) { padding-right: 9px; border-right: 1px solid ${EDGE}; border-radius: 11px; }
  .jctx-chip .jctx-chip-more { padding: 0 7px 0 2px; border-left: 0; border-radius: 0 11px 11px 0; color: ${QUIET}; }
  .jctx-chip :is(.jctx-chip-undo, .jctx-chip-redo) { min-width: 24px; padding: 0 5px; margin-left: 4px; font-size: 13px; }
  .jctx-chip.jctx-says .jctx-chip-model { display: inline; color: ${INK}; }
  .jctx-chip button:hover, .jctx-press:hover { background: ${RAISED}; }
  .jctx-chip button:focus-visible, .jctx-press:focus-visible, .jctx-request:focus-visible {
    outline: 2px solid ${BRAND}; outline-offset: 1px; position: relative; z-index: 1;
  }
  .jctx-chip-sign { color: var(--jctx-level); }
  .jctx-chip-track { width: 38px; height: 5px; border-radius: 3px; overflow: hidden; background: var(--jp-layout-color3, #ddd); }
  .jctx-chip[data-level=''] .jctx-chip-track,
  .jctx-chip-short .jctx-chip-track, .jctx-chip-short .jctx-chip-model { display: none; }
  .jctx-chip[data-level=''] .jctx-chip-model { display: inline; }
  .jctx-chip-track span { display: block; height: 100%; background-color: var(--jctx-level); }
  .jctx-guess .jctx-chip-track span {
    background-image: repeating-linear-gradient(45deg, transparent 0 3px, rgba(255, 255, 255, .6) 3px 5px);
  }
  @media (forced-colors: active) {
    .jctx-chip-track { outline: 1px solid CanvasText; }
    .jctx-chip-track span { forced-color-adjust: none; background-color: CanvasText; }
  }
  .jctx-chip-share { font-variant-numeric: tabular-nums; }
  .jctx-chip-share:empty { display: none; }
  .jctx-guess .jctx-chip-share { font-style: italic; }
  .jctx-chip-model { color: ${QUIET}; max-width: 14em; overflow: hidden; text-overflow: ellipsis; }

  .jctx-popup {
    position: fixed; inset: auto; margin: 0; padding: 12px 16px; box-sizing: border-box;
    width: min(680px, calc(100vw - 8px)); overflow: auto; color: ${INK}; background: ${PAPER};
    font: 12px/18px var(--jp-ui-font-family, system-ui, sans-serif);
    border: 1px solid ${EDGE}; border-radius: 6px; box-shadow: 0 4px 16px rgba(0, 0, 0, .25);
  }
  .jctx-popup .jctx-panel { display: flex; flex-direction: column; gap: 6px; max-width: none; }
  .jctx-popup p { margin: 0; overflow-wrap: anywhere; }
  .jctx-popup p:empty, .jctx-nothing :is(.jctx-row, .jctx-request) { display: none; }
  .jctx-press { height: 26px; line-height: 24px; padding: 0 12px; border-radius: 4px; background: ${RAISED}; }
  .jctx-press:hover { background: var(--jp-layout-color3, #e0e0e0); }
  .jctx-press[aria-disabled='true'] { color: ${QUIET}; background: transparent; border-style: dashed; }
  .jctx-popup-said[role='alert'] { color: var(--jp-error-color1, #c62828); }
  .jctx-popup-waits { visibility: hidden; height: 0; color: ${QUIET}; }
  .jctx-busy .jctx-popup-waits { visibility: visible; height: auto; transition: visibility 0s .4s, height 0s .4s; }
  .jctx-request { max-height: 40vh; margin-top: 8px; padding-top: 8px; overflow: auto; border-top: 1px solid ${EDGE}; }
  .jctx-request:empty { display: none; }
  .jctx-request > p, .jctx-request span { color: ${QUIET}; }
  .jctx-request ul { margin: 4px 0; padding: 0; list-style: none; font-variant-numeric: tabular-nums; }
  .jctx-request li { display: flex; gap: 8px; padding: 1px 0; }
  .jctx-request li > div { flex: 1 1 0; min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
  .jctx-request li > span:first-child { flex: 0 0 2em; text-align: end; }
  .jctx-request li > span:nth-child(2) { flex: 0 0 4.6em; }
  .jctx-request li > span:last-child { flex: 0 0 9em; }
  .jctx-request li li > span:last-child { flex: 0 0 auto; }
  .jctx-request summary { cursor: pointer; overflow: hidden; text-overflow: ellipsis; }
  .jctx-request details:not([open]) > summary { white-space: nowrap; }
  .jctx-request .jctx-press { height: 18px; line-height: 16px; padding: 0 6px; font-size: 11px; }
  @media (max-width: 520px) { .jctx-request li { flex-wrap: wrap; } .jctx-request li > div { flex-basis: 60%; } }

  /* where the chip is in sight, no answer repeats what it says: a faint ▸ unfolds the figures */
  .jctx-has-chip .jctx-figures { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }`;
