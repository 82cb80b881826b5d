/** Uploads with a progress bar. Without this script, the form sends the same, and the browser shows the progress. */
const inUnits = (bytes) => `${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!form.matches('form.upload')) return;
  event.preventDefault();
  const data = new FormData(form);
  // An empty field would be an invalid path.
  for (const { name, value } of form.querySelectorAll('[data-optional]')) if (value.trim() === '') data.delete(name);
  const box = form.querySelector('.progress');
  const [bar, said] = [box.querySelector('progress'), box.querySelector('output')];
  const button = form.querySelector('button');
  box.hidden = false;
  button.disabled = true;
  const request = new XMLHttpRequest();
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.value = (loaded / total) * 100;
    said.value = loaded < total ? `${inUnits(loaded)} of ${inUnits(total)}` : 'Received; it is being checked.';
  });
  request.addEventListener('load', () => {
    const page = new DOMParser().parseFromString(request.responseText, 'text/html');
    if (request.status < 400 && page.querySelector('main') !== null) return location.assign(request.responseURL);
    // The form stays as it is, including the chosen file.
    const notice = page.querySelector('.notice');
    document.querySelector('main > .notice')?.remove();
    if (notice !== null) document.querySelector('main').prepend(notice);
    const text = page.querySelector('.notice p, main p')?.textContent ?? `The server answered ${request.status}.`;
    said.value = text;
    bar.value = 0;
    button.disabled = false;
  });
  request.addEventListener('error', () => {
    said.value = 'The connection broke, or the server ended it. Try again.';
    button.disabled = false;
  });
  request.open('POST', form.action);
  request.send(data);
});
