/* The door of the extension, in the form in which JupyterLab 4 and Notebook 7 load one: a script that answers
   init() and get(). All the rest are modules beside it. Nothing is built, and nothing lies in a folder "static":
   browsers keep what is served from there for a year, so an upgrade would not reach them. */
(() => {
  'use strict';

  const home = document.currentScript.src; // known only while the script runs
  let scope;

  (window._JUPYTERLAB ??= {})['jupyter-ctx'] = {
    init(shared) {
      scope = shared;
    },
    async get() {
      const { plugins } = await import(new URL('plugins.js', home));
      const found = await plugins(scope);
      return () => ({ __esModule: true, default: found });
    }
  };
})();
