(() => {
  if (window.parent === window) return;
  // WordPress frames the card with a secret in the address, and only accepts messages that repeat it.
  const secret = () => /[#?&]secret=([^&]+)/.exec(location.hash)?.[1];
  const tell = (message, value) => {
    if (secret() !== undefined) window.parent.postMessage({ message, value, secret: secret() }, '*');
  };
  const card = document.querySelector('.card');
  const height = () => {
    // A frame that follows the card's height always has room for the picture.
    document.documentElement.classList.toggle('grows', secret() !== undefined);
    tell('height', Math.ceil(card.getBoundingClientRect().bottom + scrollY));
  };
  // Browsers do not observe sizes in a frame that is still hidden.
  addEventListener('load', height);
  new ResizeObserver(height).observe(card);
  // The host page may add the secret, or start listening, after the card has loaded.
  addEventListener('hashchange', height);
  addEventListener('message', ({ source, data }) => {
    if (source === window.parent && data?.message === 'ready' && data.secret === secret()) height();
  });
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href]');
    if (link === null || secret() === undefined) return;
    event.preventDefault();
    tell('link', link.href);
  });
})();
