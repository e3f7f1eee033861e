/* A card in JupyterLab's launcher that opens the lessons. They are served beside this file, and a lesson that a user
   has already, with what was done in it, is never written over. */

const FOLDER = 'chat-lessons';
const LESSONS = [
  '01-first-chat.ipynb',
  '02-when-the-window-fills.ipynb',
  '03-tokens-and-the-next-one.ipynb',
  '04-is-it-real.ipynb',
  '05-how-far-does-it-hold.ipynb',
  '06-what-a-policy-costs.ipynb'
];
const HERE = new URL('lessons/', import.meta.url);
const COMMAND = 'jupyter-ctx:lessons';
const BUBBLE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path class="jp-icon3" fill="#616161"
  d="M4 3h16a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2h-8l-5 4v-4H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zm2 5v2h12V8zm0 4v2h8v-2z"/></svg>`;

export async function lessons(load) {
  const [{ ILauncher }, { IDefaultFileBrowser }, { showErrorMessage }, { LabIcon }] = await load(
    '@jupyterlab/launcher',
    '@jupyterlab/filebrowser',
    '@jupyterlab/apputils',
    '@jupyterlab/ui-components'
  );
  const icon = new LabIcon({ name: COMMAND, svgstr: BUBBLE });

  return {
    id: 'jupyter-ctx:lessons',
    description: 'Adds a card to the launcher that opens the lessons on chats and context windows.',
    autoStart: true,
    requires: [ILauncher],
    optional: [IDefaultFileBrowser],
    activate(app, launcher, browser) {
      app.commands.addCommand(COMMAND, {
        label: 'Chat lessons',
        caption: `Copy the lessons into ${FOLDER}/ where they are not there yet, and open the first`,
        icon,
        execute: () => open(app, browser).catch(error => showErrorMessage('The lessons cannot be opened', error))
      });
      launcher.add({ command: COMMAND, category: 'Other', rank: 9 });
    }
  };
}

async function open(app, browser) {
  const { contents } = app.serviceManager;
  const there = await names(contents);
  for (const name of LESSONS.filter(name => !there.includes(name))) {
    const lesson = await (await fetch(new URL(name, HERE))).json();
    await contents.save(`${FOLDER}/${name}`, { type: 'notebook', format: 'json', content: lesson });
  }
  await browser?.model.cd(`/${FOLDER}`);
  await app.commands.execute('docmanager:open', { path: `${FOLDER}/${LESSONS[0]}` });
}

/** Return the names of the files in the folder, which is made where it is missing. */
async function names(contents) {
  const root = await contents.get('');
  if (root.content.some(({ name }) => name === FOLDER)) return (await contents.get(FOLDER)).content.map(({ name }) => name);
  await contents.save(FOLDER, { type: 'directory' });
  return [];
}
