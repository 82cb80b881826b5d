const place = document.getElementById('share');
const [copy, share] = place.querySelectorAll('button');
const url = document.querySelector('link[rel="canonical"]')?.href ?? location.href;

// Pages without TLS have no clipboard, and not every browser supports sharing.
copy.disabled = !navigator.clipboard;
share.disabled = !navigator.share;

copy.addEventListener('click', async () => {
  const said = place.querySelector('[role="status"]');
  try {
    await navigator.clipboard.writeText(url);
    said.textContent = place.dataset.copied;
  } catch {
    // The browser refused: show the link, to be copied by hand.
    said.textContent = url;
  }
});
// Closing the dialog rejects the promise; nothing was shared.
share.addEventListener('click', () =>
  navigator.share({ title: document.querySelector('h1').textContent, url }).catch(() => {}),
);
