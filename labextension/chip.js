/* The chip in the toolbar of each notebook whose kernel has loaded jupyter_ctx: how full the context window is, a panel
   with what can be done about it, the models, undo and redo. Where a prompt waits for the extension, it offers to load. */
import { linkTo } from './chip_link.js';
import { ChipPanel } from './chip_panel.js';
import { CHIP_STYLE } from './chip_style.js';
import { addStyle, button, element, spoken } from './elements.js';
import { MAGIC } from './prompt_syntax.js';
import { roving } from './roving.js';

const ID = 'jupyter-ctx:chip'; // the name of its schema, which puts it into the toolbar
const NARROW = 620; // pixels of a notebook below which the chip is the percentage alone
const SOON = 500; // milliseconds in which a kernel that has nothing to do has answered
const SHOWN_FOR = 3000; // milliseconds of a word about what was undone
const OFFER = { shape: '○', model: 'load chat', title: 'This notebook has a prompt: a click runs %load_ext jupyter_ctx' };
const PRESSES = ['Summarise', 'Trim', 'Clear', 'Undo', 'Redo'];
let lastSpoken = ''; // the id of a message: of two views of a notebook, one announces it

export async function chip(load) {
  const [{ Widget }, { MessageLoop }, { CommandRegistry }, { KernelMessage }, apputils, { ISettingRegistry }, ui] =
    await load(
      '@lumino/widgets',
      '@lumino/messaging',
      '@lumino/commands',
      '@jupyterlab/services',
      '@jupyterlab/apputils',
      '@jupyterlab/settingregistry',
      '@jupyterlab/ui-components'
    );
  const Link = linkTo({ KernelMessage });
  const chips = new Set();
  let isOn = true; // by JupyterLab's own setting

  class Chip extends Widget {
    constructor(panel) {
      super();
      this.panel = panel;
      this.link = this.models = this.menu = null;
      this.addClass('jctx-chip');
      this.sign = element('span', 'jctx-chip-sign', { 'aria-hidden': 'true' });
      this.track = element('span', 'jctx-chip-track', { 'aria-hidden': 'true' });
      this.track.append(element('span'));
      this.share = element('span', 'jctx-chip-share');
      this.model = element('span', 'jctx-chip-model');
      this.main = button('', 'jctx-chip-main', () => this.offer && this.loadExtension());
      this.main.append(this.sign, this.track, this.share, this.model);
      this.more = button('▾', 'jctx-chip-more', () => this.askModels());
      this.more.setAttribute('aria-haspopup', 'menu');
      this.undo = button('↶', 'jctx-chip-undo', () => this.press('Undo'));
      this.redo = button('↷', 'jctx-chip-redo', () => this.press('Redo'));
      this.spoken = spoken();
      this.node.append(this.main, this.more, this.undo, this.redo, this.spoken);
      // else the toolbar gives the focus back to the notebook, out of what has just been opened
      this.node.addEventListener('click', event => event.stopPropagation());
      this.popup = new ChipPanel(this.main, data => this.link?.send(data));
      this.resized = new ResizeObserver(() => this.fit());
      for (const node of [this.node, panel.node]) this.resized.observe(node);
      panel.disposed.connect(() => this.dispose());
      chips.add(this);
      this.connect();
    }

    dispose() {
      if (this.isDisposed) return;
      chips.delete(this);
      this.link?.dispose();
      this.resized.disconnect();
      this.popup.dispose();
      this.menu?.dispose();
      super.dispose();
    }

    /** Begin to listen to the kernel, or end, as the setting says. */
    connect() {
      if (!isOn) this.link?.send({ ask: false }); // the kernel shows its gauge below cells again
      this.link?.dispose();
      this.link = isOn ? new Link(this.panel.sessionContext, (data, id) => this.hear(data, id)) : null;
      this.draw();
    }

    press(name) {
      this.link?.send({ press: name });
    }

    hear(data = {}, id = '') {
      if (this.isDisposed || !this.link) return;
      if (data.level && this.level && data.level !== this.level) this.speak(data.title, id);
      if ('shape' in data) this.level = data.level;
      this.draw();
      if (data.panel) this.popup.fill(data.panel);
      if (data.said !== undefined) this.say(data, id);
      if (data.models) this.list(data.models);
      if (data.key_for && this.isVisible) void this.askKey(data.key_for);
      if ('level' in data && this.popup.isOpen) this.popup.fetch();
    }

    say({ said, role, button: name }, id) {
      const isUnseen = role === 'alert' && this.isVisible && !this.popup.isOpen;
      if (isUnseen) this.popup.open();
      this.popup.say(said, role); // which announces it where it is open
      if (isUnseen) this.popup.said.focus(); // not a button: Enter may be typed on
      if (!this.popup.isOpen) this.speak(said, id);
      if (role === 'status' && ['Undo', 'Redo'].includes(name)) this.tell(said.replace(/ \(.*|\.$/g, ''));
    }

    /** Say a few words in place of the model's name, for a while. */
    tell(words) {
      clearTimeout(this.told);
      this.words = words;
      if (words) this.told = setTimeout(() => this.isDisposed || this.tell(''), SHOWN_FOR);
      this.draw();
    }

    speak(text, id) {
      if (id === lastSpoken) return;
      lastSpoken = id;
      this.spoken.textContent = text;
    }

    /** Whether a prompt waits in this notebook for a kernel that could load the extension. */
    get offer() {
      const isPrompt = ({ type, sharedModel }) => type === 'code' && MAGIC.test(sharedModel.source.trimStart());
      return Boolean(this.link?.canLoad) && [...(this.panel.content.model?.cells ?? [])].some(isPrompt);
    }

    async loadExtension() {
      const sent = this.link.kernel.requestExecute({ code: '%load_ext jupyter_ctx', store_history: false });
      const { content } = await sent.done;
      if (content.status !== 'ok') void apputils.showErrorMessage('jupyter_ctx was not loaded', content.evalue);
    }

    draw() {
      const figures = this.link?.figures ?? (this.offer ? OFFER : null);
      this.setHidden(!figures);
      this.panel.node.classList.toggle('jctx-has-chip', Boolean(this.link?.figures));
      this.main.popoverTargetElement = figures === OFFER ? null : this.popup.node;
      if (!figures || figures === OFFER) this.popup.close();
      if (!figures) return;
      const { shape, share = '', model, title = '', level = '', fill = 0 } = figures;
      this.node.dataset.level = level;
      this.toggleClass('jctx-guess', Boolean(figures.guess));
      this.toggleClass('jctx-away', !this.link.isConnected); // and what it says may be old
      this.toggleClass('jctx-says', Boolean(this.words));
      this.sign.textContent = shape;
      this.track.firstChild.style.width = `${100 * fill}%`;
      this.share.textContent = share;
      this.model.textContent = this.words || model;
      this.main.title = title;
      this.main.setAttribute('aria-label', figures === OFFER ? title : `Context ${share} ${level}: ${model}`.replace(/ +/g, ' '));
      this.more.hidden = !('level' in figures);
      name(this.more, `Model: ${model}`);
      for (const verb of ['undo', 'redo']) {
        this[verb].hidden = !figures[verb];
        name(this[verb], `${verb === 'undo' ? 'Undo' : 'Redo'}: ${figures[verb]}`);
      }
      this.popup.draw(figures, this.link.isBusy);
    }

    /** Say less where it is narrow, and let the toolbar see how wide the chip is now. */
    fit() {
      this.toggleClass('jctx-chip-short', this.panel.node.clientWidth < NARROW);
      const { clientWidth, clientHeight } = this.panel.toolbar.node;
      MessageLoop.postMessage(this.panel.toolbar, new Widget.ResizeMessage(clientWidth, clientHeight));
    }

    askModels() {
      this.isAsked = true;
      this.link?.send({ menu: true });
      const waiting = this.link?.isBusy ? 'A cell is running: models are listed when it has ended' : 'Models are being listed…';
      setTimeout(() => this.isAsked && !this.isDisposed && this.openMenu(this.models ?? [['', waiting, false]]), SOON);
    }

    /** Keep the models that the kernel has listed; a menu that was opened before they came shows them. */
    list(models) {
      const isKnown = JSON.stringify(models) === JSON.stringify(this.models);
      this.models = models;
      if (!this.isAsked) return; // its menu was closed, or another view has asked
      this.isAsked = false;
      if (!isKnown || !this.menu?.isAttached) this.openMenu(models);
    }

    async askName() {
      const { value } = await apputils.InputDialog.getText({ title: 'Model to ask', placeholder: 'provider/model' });
      if (value?.trim()) this.link?.send({ model: value.trim() });
    }

    async askKey(owner) {
      this.popup.close(); // which would lie above the dialog
      const label = 'It is kept in the memory of this kernel only.';
      const { value } = await apputils.InputDialog.getPassword({ title: `Key for ${owner}`, label });
      if (value?.trim()) this.link?.send({ key: value.trim(), owner });
    }

    openMenu(models) {
      this.menu?.dispose();
      const commands = new CommandRegistry();
      const menu = new ui.MenuSvg({ commands }); // lumino's own shows no check marks
      const add = (command, label, execute, more = {}) => {
        commands.addCommand(command, { label, execute, ...more });
        menu.addItem({ command });
      };
      models.forEach(([name, label, isCurrent], index) => {
        const state = { isToggleable: true, isToggled: () => isCurrent, isEnabled: () => Boolean(name) };
        add(`model-${index}`, label, () => this.link?.send({ model: name }), state);
      });
      menu.addItem({ type: 'separator' });
      add('other', 'Another model…', () => this.askName());
      add('note', 'Undo does not change the model.', () => {}, { isEnabled: () => false });
      menu.addClass('jctx-models');
      menu.aboutToClose.connect(() => {
        this.isAsked = false;
        this.more.focus();
      });
      const { left, bottom } = this.more.getBoundingClientRect();
      menu.open(left, bottom);
      this.menu = menu;
    }
  }

  return {
    id: ID,
    description: 'Shows how full the context window is in the toolbar of notebooks.',
    autoStart: true,
    requires: [apputils.IToolbarWidgetRegistry],
    optional: [ISettingRegistry, apputils.ICommandPalette],
    activate(app, toolbars, registry, palette) {
      addStyle(CHIP_STYLE);
      roving('.jctx-toolbar');
      toolbars.addFactory('Notebook', 'jctxChip', panel => new Chip(panel));
      const current = () => [...chips].find(each => each.panel === app.shell.currentWidget && each.link?.figures);
      const offer = (label, act) => {
        const command = `jupyter-ctx:${label.toLowerCase().replaceAll(' ', '-')}`;
        app.commands.addCommand(command, { label, isEnabled: () => Boolean(current()), execute: () => act(current()) });
        palette?.addItem({ command, category: 'Chat' });
      };
      offer('Show the context', each => each.popup.open());
      offer('Choose the model', each => each.askModels());
      for (const verb of PRESSES) offer(`${verb} the conversation`, each => each.press(verb));
      const follow = settings => {
        if (isOn === settings.composite.shown) return;
        isOn = settings.composite.shown;
        for (const each of chips) each.connect();
      };
      registry?.load(ID).then(settings => {
        settings.changed.connect(follow);
        follow(settings);
      });
    }
  };
}

function name(each, text) {
  each.title = text;
  each.setAttribute('aria-label', text);
}
