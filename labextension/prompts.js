/* What stands below %%chat or %%ctx in a code cell is edited as Markdown: coloured as such, with long lines wrapped,
   and with nothing typed that the user did not type, neither indentation nor closing brackets.

   It depends on the cell's text alone, so nothing that happens to the cell or its kernel resets it. */
import { promptLanguage } from './prompt_language.js';
import { EXPRESSION, isPrompt, isRaw } from './prompt_syntax.js';
import { addStyle } from './elements.js';

const MARKDOWN = 'text/x-ipythongfm'; // what Markdown cells are: with tables, formulas and fenced code

// set off by shape and weight, and by one colour whatever the text around it is: code, bold, a heading
const STYLE = `
  .jctx-expression {
    border-radius: 3px;
    box-shadow: inset 0 0 0 1px var(--jp-border-color1, rgba(128, 128, 128, .5));
    background: var(--jp-layout-color2, rgba(128, 128, 128, .15));
  }
  .jctx-expression, .jctx-expression span {
    color: var(--jp-mirror-editor-variable-2-color, var(--jp-brand-color1, #1976d2)) !important;
    font-style: normal;
    font-weight: 600;
  }
  .jp-Completer-item .jp-Completer-typeExtended { white-space: nowrap; }`; // descriptions, in the row of their word

export async function prompts(load) {
  const [state, view, language, highlight, codemirror] = await load(
    '@codemirror/state',
    '@codemirror/view',
    '@codemirror/language',
    '@lezer/highlight',
    '@jupyterlab/codemirror'
  );
  const { Compartment, EditorState, Prec } = state;
  const { Decoration, EditorView, MatchDecorator, ViewPlugin } = view;
  const { EditorExtensionRegistry, IEditorExtensionRegistry, IEditorLanguageRegistry } = codemirror;

  const python = []; // the kernel's own language, which stays below
  let prompt = null; // once it is loaded, which the first prompt on the page sees to
  let loading = null;

  async function prepare(languages) {
    const { support } = await languages.getLanguage(MARKDOWN);
    prompt = [
      // without the keys of Markdown cells, which write list items and comments of their own
      Prec.highest([
        // first, for the first that tells of comments is asked: Markdown's own would be sent to the model
        EditorState.languageData.of(() => [{ closeBrackets: { brackets: [] }, commentTokens: {} }]),
        promptLanguage(support.language, language, highlight),
        // 0: a new line begins at the margin; null, in a fence: below the line before
        language.indentService.of(({ state }, at) => (isFenced(state, at, language) ? null : 0))
      ]),
      marked({ Decoration, MatchDecorator, ViewPlugin }),
      EditorView.lineWrapping
    ];
  }

  /** Return the extension of one editor whose text begins as `source`. */
  function following(languages, source) {
    const slot = new Compartment();
    const fitting = doc => (prompt && isPrompt(doc) ? prompt : python);
    const wake = editor => {
      if (prompt || !isPrompt(editor.state.doc)) return;
      loading ??= prepare(languages);
      loading.then(
        () => editor.dispatch({}), // the extender below does the rest
        error => console.warn('jupyter-ctx: prompts stay Python:', error)
      );
    };
    return [
      slot.of(fitting(state.Text.of(source.split('\n')))),
      // in the same transaction as the letter that makes a cell a prompt, or ends it: undo needs nothing of its own
      EditorState.transactionExtender.of(change => {
        const next = fitting(change.newDoc);
        return slot.get(change.startState) === next ? null : { effects: slot.reconfigure(next) };
      }),
      ViewPlugin.define(editor => {
        wake(editor);
        return { update: update => update.docChanged && wake(update.view) };
      })
    ];
  }

  return {
    id: 'jupyter-ctx:prompts',
    description: 'Edits what stands below %%chat and %%ctx as Markdown.',
    autoStart: true,
    requires: [IEditorExtensionRegistry, IEditorLanguageRegistry],
    activate(app, extensions, languages) {
      addStyle(STYLE);
      extensions.addExtension({
        name: 'jupyterCtxPrompts',
        default: true,
        schema: {
          type: 'boolean',
          title: 'Prompts as Markdown',
          description: 'Edit what stands below %%chat and %%ctx as Markdown, with long lines wrapped.'
        },
        factory({ model }) {
          if (model.type !== 'code') return null;
          const extension = following(languages, model.sharedModel.source);
          return EditorExtensionRegistry.createConfigurableExtension(isOn => (isOn ? extension : []));
        }
      });
    }
  };
}

/** Return the extension that sets {{ expressions }} off wherever the kernel fills them in, which it does in code, too. */
function marked({ Decoration, MatchDecorator, ViewPlugin }) {
  const matcher = new MatchDecorator({
    regexp: EXPRESSION,
    decoration: Decoration.mark({ class: 'jctx-expression' })
  });
  return ViewPlugin.define(
    view => ({
      decorations: isRaw(view.state.doc) ? Decoration.none : matcher.createDeco(view),
      update(update) {
        const [was, is] = [update.startState, update.state].map(({ doc }) => isRaw(doc));
        if (is) this.decorations = Decoration.none;
        else this.decorations = was ? matcher.createDeco(update.view) : matcher.updateDeco(update, this.decorations);
      }
    }),
    { decorations: plugin => plugin.decorations }
  );
}

/** Return whether a new line at `at` stands in a fenced block that has not ended there. */
function isFenced(state, at, { syntaxTree }) {
  for (let node = syntaxTree(state).resolveInner(at, -1); node; node = node.parent) {
    if (node.name === 'FencedCode') return node.getChildren('CodeMark').length < 2 || at < node.lastChild.from;
  }
  return false;
}
