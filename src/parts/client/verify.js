// The checks are large, and few readers ask for them: they are fetched when one does.
const panel = document.getElementById('verify');
const button = panel.querySelector('button');
const status = panel.querySelector('[role="status"]');

async function open() {
  button.removeEventListener('click', open);
  status.textContent = panel.dataset.fetching;
  try {
    await import(/* @vite-ignore */ panel.dataset.checks);
  } catch {
    status.textContent = panel.dataset.notFetched;
    button.addEventListener('click', open);
  }
}

button.addEventListener('click', open);
panel.hidden = false;
