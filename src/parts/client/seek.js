const player = document.querySelector('audio');
const links = [...document.querySelectorAll('.chapters [data-seek]')];

document.addEventListener('click', (event) => {
  const link = event.target.closest('[data-seek]');
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (link === null || !isPlain) return;
  event.preventDefault();
  player.currentTime = Number(link.dataset.seek);
  // A browser may refuse to play; its controls say so.
  player.play().catch(() => {});
});

/** Marks the chapter that is heard. */
function mark() {
  const heard = links.findLast(({ dataset }) => Number(dataset.seek) <= player.currentTime);
  for (const link of links) {
    if (link === heard && !player.ended) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}
for (const event of ['timeupdate', 'seeked', 'ended']) player.addEventListener(event, mark);
