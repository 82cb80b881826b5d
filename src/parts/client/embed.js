(() => {
  // WordPress frames the card with a secret in the address and believes only messages that bring it back.
  const secret = /[#?&]secret=([^&]+)/.exec(location.hash)?.[1];
  if (window.parent === window || secret === undefined) return;
  const tell = (message, value) => window.parent.postMessage({ message, value, secret }, '*');
  const card = document.querySelector('.card');
  const height = () => tell('height', Math.ceil(card.getBoundingClientRect().bottom + scrollY));
  addEventListener('load', height);
  addEventListener('resize', height);
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href]');
    if (link === null) return;
    event.preventDefault();
    tell('link', link.href);
  });
})();
