// The checks are large and few readers use them, so they are loaded on demand.
const place = document.querySelector('[data-checks]');
const button = place.querySelector('button') ?? place;
const status = place.querySelector('[role="status"]') ?? document.getElementById('verdict');

async function open() {
  button.removeEventListener('click', open);
  status.textContent = place.dataset.fetching;
  try {
    await import(/* @vite-ignore */ place.dataset.checks);
  } catch {
    status.textContent = place.dataset.notFetched;
    button.addEventListener('click', open);
  }
}

button.addEventListener('click', open);
button.disabled = false;
place.hidden = false;
