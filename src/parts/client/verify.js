// The checks are large, and few readers ask for them: they are fetched when one does.
const panel = document.getElementById('verify');
const button = panel.querySelector('button');
const status = panel.querySelector('[role="status"]');

async function open() {
  button.removeEventListener('click', open);
  status.textContent = 'Fetching the checks…';
  try {
    await import(/* @vite-ignore */ panel.dataset.checks);
  } catch {
    status.textContent =
      'Nothing was checked: the program that checks could not be fetched. That says nothing about the piece. Reload the page and try again.';
    button.addEventListener('click', open);
  }
}

button.addEventListener('click', open);
panel.hidden = false;
