/* What the extension adds to the application. Each part stands alone: where one lacks what it needs, the others work. */
import { answers } from './answers.js';
import { chip } from './chip.js';
import { codeButtons } from './code_buttons.js';
import { prompts } from './prompts.js';
import { sharing } from './shared.js';

const PARTS = { prompts, answers, codeButtons, chip };

/** Return the plugins that this application can have. */
export async function plugins(scope) {
  const load = sharing(scope);
  const found = await Promise.all(Object.entries(PARTS).map(([name, part]) => made(name, part, load)));
  return found.filter(Boolean);
}

async function made(name, part, load) {
  try {
    return await part(load);
  } catch (error) {
    console.warn(`jupyter-ctx: ${name} is off:`, error);
    return null;
  }
}
