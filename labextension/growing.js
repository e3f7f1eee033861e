/* An answer that grows. Its bundle carries the type below, with an empty value, beside text/html; each update of the
   output then changes the page by as little as the answer has changed. An application without this extension does not
   know the type, and shows text/html. */
import { morph } from './morph.js';
import { seen } from './seen.js';

const GROWING = 'application/vnd.jupyter-ctx.growing';
const BEFORE_HTML = 40; // a rank: text/html has 50
const FORMULA = /\$|\\[([]|\\begin/;

export async function growingAnswers(load) {
  const [{ IRenderMimeRegistry, RenderedHTMLCommon, renderHTML }] = await load('@jupyterlab/rendermime');

  class GrowingAnswer extends RenderedHTMLCommon {
    constructor(options) {
      super(options);
      this.addClass('jp-RenderedHTML'); // all that holds for text/html holds here
      this.shown = document.createElement('div'); // the answer as it was drawn last
      this.updates = 0;
    }

    async renderModel(model) {
      await super.renderModel(model, true); // true: keep what is there
    }

    async render(model) {
      const update = ++this.updates;
      const next = document.createElement('div');
      // the application's own way from text to nodes: of a notebook that is not trusted, its sanitizer keeps what is harmless
      await renderHTML({
        host: next,
        source: String(model.data['text/html'] ?? ''),
        trusted: model.trusted,
        resolver: this.resolver,
        sanitizer: this.sanitizer,
        linkHandler: this.linkHandler,
        shouldTypeset: false,
        latexTypesetter: null,
        translator: this.translator
      });
      if (update === this.updates && !this.isDisposed) this.show(next);
    }

    show(next) {
      const drawn = new Set();
      // morph changes attributes, too, but neither div has any: those of the node are the application's
      morph(this.node, this.shown, next, element => drawn.add(element));
      this.shown = next;
      if (this.isAttached) drawn.forEach(element => this.typeset(element));
    }

    typeset(element) {
      // MathJax passes over code, but not where it is given the code itself
      const isCode = element !== this.node && element.closest('pre, code') !== null;
      if (!isCode && FORMULA.test(element.textContent)) this.latexTypesetter?.typeset(element);
    }

    onAfterAttach() {
      this.typeset(this.node);
    }

    onBeforeDetach() {
      // the whole answer is drawn by the application's own text/html, in a place of its own
      const place = this.node.closest('.jp-OutputArea-child');
      const area = place?.parentElement;
      if (!area) return;
      const index = [...area.children].indexOf(place);
      const restore = seen(this.node);
      let tries = 20;
      const look = () => {
        const now = area.children[index];
        if (now && now !== place && now.querySelector('.jctx-answer')) restore(now);
        else if (tries-- > 0) setTimeout(look, 5);
      };
      setTimeout(look, 0);
    }
  }

  return {
    id: 'jupyter-ctx:growing-answers',
    description: 'Leaves alone what is unfolded, selected or scrolled in an answer while it grows.',
    autoStart: true,
    requires: [IRenderMimeRegistry],
    activate(app, rendermime) {
      rendermime.addFactory(
        { safe: true, mimeTypes: [GROWING], createRenderer: options => new GrowingAnswer(options) },
        BEFORE_HTML
      );
    }
  };
}
