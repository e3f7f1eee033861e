/* Answers, while they grow and when they are whole. Their bundle carries the type below, with an empty value, beside
   text/html; each update then changes the page by as little as the answer has changed, so that what is unfolded,
   selected and scrolled stays so. An application without this extension does not know the type, and shows text/html. */
const ANSWER = 'application/vnd.jupyter-ctx.answer';
const BEFORE_HTML = 40; // a rank: text/html has 50
const FORMULA = /\$|\\[([]|\\begin/;
const KEPT = 'jctx-kept'; // the class of elements whose content is not sent again; what they held before stays

/** The attribute of elements that are no part of an answer, such as a button: they come and go by themselves. */
export const ADDED = 'data-jctx-added';

export async function answers(load) {
  const [{ IRenderMimeRegistry, RenderedHTMLCommon, renderHTML }] = await load('@jupyterlab/rendermime');

  class Answer extends RenderedHTMLCommon {
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
      if (update !== this.updates || this.isDisposed) return;
      const drawn = new Set();
      morph(this.node, this.shown, next, drawn);
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
  }

  return {
    id: 'jupyter-ctx:answers',
    description: 'Leaves alone what is unfolded, selected or scrolled in an answer while it grows.',
    autoStart: true,
    requires: [IRenderMimeRegistry],
    activate(app, rendermime) {
      rendermime.addFactory({ safe: true, mimeTypes: [ANSWER], createRenderer: options => new Answer(options) }, BEFORE_HTML);
    }
  };
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
      if (wanted.classList.contains(KEPT) && !wanted.firstElementChild && now.firstElementChild) return;
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
