// Names, roles and heading levels that the viewer leaves out or gets wrong. React sets an attribute again only when it
// changes or when the element is made anew, so that checking new elements is enough.
const place = document.querySelector('#api');

/** For every element that a selector finds: an attribute and its value; null removes it. */
const MENDED = [
  ['.information-container section', 'aria-label', 'About this API'],
  ['section.schemes', 'aria-label', 'Server and keys'],
  ['#servers', 'aria-label', 'Server'],
  ['.examples-select-element', 'aria-label', 'Example'],
  ['select.content-type', 'aria-label', 'Media type'],
  ['.body-param__text', 'aria-label', 'Body of the request'],
  ['.opblock-tag, .models > h4', 'aria-level', '2'],
  ['.opblock-body h4, .modal-ux h4', 'aria-level', '3'],
  ['.opblock-body h5, .modal-ux h5', 'aria-level', '4'],
  ['.modal-ux-header h3', 'aria-level', '2'],
  ['.modal-ux h6', 'aria-level', '4'],
  ['.modal-ux', 'role', 'dialog'],
  ['.modal-ux', 'aria-modal', 'true'],
  ['.modal-ux', 'aria-label', 'Keys'],
  ['.close-modal', 'aria-label', 'Close'],
  // Focusable, so that long examples can be scrolled by keyboard.
  ['pre.microlight', 'tabindex', '0'],
  // A table is not a landmark.
  ['table[role=region]', 'role', null],
  ['.json-schema-2020-12-accordion:not(:has(.json-schema-2020-12__title))', 'aria-label', 'Schema'],
];

function mend() {
  for (const [selector, name, value] of MENDED) {
    for (const element of place.querySelectorAll(selector)) {
      if (value === null) element.removeAttribute(name);
      else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
    }
  }
}

/** The dialog for keys takes the focus, ends with Escape, and gives the focus back to what opened it. */
let opener = null;
let dialog = null;
function followDialog() {
  const open = place.querySelector('.modal-ux');
  if (open === dialog) return;
  if (open !== null) {
    opener = document.activeElement;
    open.querySelector('input, .close-modal').focus();
    // The viewer may have re-rendered the opener.
  } else (opener?.isConnected ? opener : place.querySelector('.btn.authorize')).focus();
  dialog = open;
}
document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') dialog?.querySelector('.close-modal').click();
});

// The viewer takes the addresses after `#` for operations.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  const operations = document.getElementById('operations');
  // It is longer than the screen: focusing alone would show its middle.
  operations?.focus({ preventScroll: true });
  operations?.scrollIntoView();
});

const watch = () => {
  mend();
  followDialog();
};
new MutationObserver(watch).observe(place, { childList: true, subtree: true });
watch();
