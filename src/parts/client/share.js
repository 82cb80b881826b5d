const place = document.getElementById('share');
const [copy, share] = place.querySelectorAll('button');
const url = document.querySelector('link[rel="canonical"]')?.href ?? location.href;

// A page without TLS has no clipboard, and not every browser can share.
copy.disabled = !navigator.clipboard;
share.disabled = !navigator.share;

copy.addEventListener('click', async () => {
  await navigator.clipboard.writeText(url);
  place.querySelector('[role="status"]').textContent = place.dataset.copied;
});
// Whoever closes the dialog again shares nothing.
share.addEventListener('click', () =>
  navigator.share({ title: document.querySelector('h1').textContent, url }).catch(() => {}),
);
