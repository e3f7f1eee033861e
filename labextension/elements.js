/** Return a new element with a class, and with attributes. */
export function element(tag, name = '', attributes = {}) {
  const made = document.createElement(tag);
  made.className = name;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Return a new button with a text. */
export function button(text, name, clicked) {
  const made = element('button', name, { type: 'button' });
  made.textContent = text;
  made.addEventListener('click', clicked);
  return made;
}

/** Add rules to the page. */
export function addStyle(rules) {
  const style = element('style');
  style.textContent = rules;
  document.head.append(style);
}

/** Return an element whose text screen readers say as it changes, and nobody sees. */
export function spoken() {
  return element('span', 'jctx-spoken', { role: 'status' });
}
