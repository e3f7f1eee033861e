/* Outputs of ours, such as an answer that grows: each update changes the page by as little as the output has changed, so
   that what is unfolded, selected and scrolled stays so. All other HTML is drawn by the application's own class. */
const HTML = 'text/html';
const RANK = 50; // the application's own
const OURS = /^<\w+ class="jctx-/;
const FORMULA = /\$|\\[([]|\\begin/;

/** The attribute of elements that are no part of an answer, such as a button: they come and go by themselves. */
export const ADDED = 'data-jctx-added';

export async function answers(load) {
  const [{ IRenderMimeRegistry, RenderedHTML, renderHTML }] = await load('@jupyterlab/rendermime');

  class Answer extends RenderedHTML {
    shown = null; // our output as it was drawn last
    updates = 0;

    async renderModel(model) {
      const isOurs = OURS.test(sourceOf(model));
      if (!isOurs) this.shown = null;
      await super.renderModel(model, isOurs && this.shown !== null); // true: keep what is there
    }

    async render(model) {
      const update = ++this.updates;
      if (!OURS.test(sourceOf(model))) return super.render(model);
      const next = document.createElement('div');
      // the application's own way from text to nodes: of a notebook that is not trusted, its sanitizer keeps what is harmless
      await renderHTML({
        host: next,
        source: sourceOf(model),
        trusted: model.trusted,
        resolver: this.resolver,
        sanitizer: this.sanitizer,
        linkHandler: this.linkHandler,
        shouldTypeset: false,
        latexTypesetter: null,
        translator: this.translator
      });
      if (update !== this.updates || this.isDisposed) return;
      const drawn = new Set();
      morph(this.node, this.shown ?? document.createElement('div'), next, drawn);
      this.shown = next;
      if (this.isAttached) drawn.forEach(element => this.typeset(element));
    }

    typeset(element) {
      // MathJax passes over code, but not where it is given the code itself
      const isCode = element !== this.node && element.closest('pre, code') !== null;
      if (!isCode && FORMULA.test(element.textContent)) this.latexTypesetter?.typeset(element);
    }

    onAfterAttach(message) {
      this.shown ? this.typeset(this.node) : super.onAfterAttach(message);
    }
  }

  return {
    id: 'jupyter-ctx:answers',
    description: 'Leaves alone what is unfolded, selected or scrolled in an answer while it grows.',
    autoStart: true,
    requires: [IRenderMimeRegistry],
    activate(app, rendermime) {
      rendermime.addFactory({ safe: true, mimeTypes: [HTML], createRenderer: options => new Answer(options) }, RANK);
    }
  };
}

function sourceOf(model) {
  return String(model.data[HTML] ?? '');
}

/**
 * Change what `live` holds from `before` into `after`, child by child: an answer grows at its end. What others have done
 * since `before` was drawn, as MathJax does, stays wherever both agree. `drawn` gets the elements whose text has changed.
 */
function morph(live, before, after, drawn) {
  const lives = [...live.childNodes].filter(node => !node.hasAttribute?.(ADDED));
  const olds = [...before.childNodes];
  const news = [...after.childNodes];
  const put = (node, place) => {
    const copy = document.importNode(node, true);
    place ? place.replaceWith(copy) : live.insertBefore(copy, lives.at(-1)?.nextSibling ?? null);
    drawn.add(copy.nodeType === Node.ELEMENT_NODE ? copy : live);
    return copy;
  };
  news.forEach((wanted, index) => {
    const [now, old] = [lives[index], olds[index]];
    if (now && old?.isEqualNode(wanted)) return;
    const isSame = now && old?.nodeName === wanted.nodeName && now.nodeName === wanted.nodeName;
    if (isSame && wanted.nodeType === Node.TEXT_NODE && now.data === old.data) {
      grow(now, wanted.data);
      drawn.add(live);
    } else if (isSame && wanted.nodeType === Node.ELEMENT_NODE && old.className === wanted.className) {
      for (const { name, value } of wanted.attributes) if (old.getAttribute(name) !== value) now.setAttribute(name, value);
      morph(now, old, wanted, drawn);
    } else {
      lives[index] = put(wanted, now);
    }
  });
  for (const extra of lives.slice(news.length)) extra.remove();
}

/** Put in only what follows the beginning that two texts share, so that a selection there stays. */
function grow(text, data) {
  let same = 0;
  while (same < data.length && text.data[same] === data[same]) same += 1;
  text.replaceData(same, text.length - same, data.slice(same));
}
