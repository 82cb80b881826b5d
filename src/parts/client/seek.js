const [player, sound] = document.querySelectorAll('.screen :is(audio, video)');
/** The chapters and the paragraphs of the transcript. In each list, the current one is marked. */
const lists = ['.chapters', '.transcript'].map((list) => [...document.querySelectorAll(`${list} [data-seek]`)]);

document.addEventListener('click', (event) => {
  const link = event.target.closest('[data-seek]');
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (link === null || !isPlain) return;
  event.preventDefault();
  // If the sound of a video is open for listening only, it is played there.
  const heard = sound?.closest('[open]') ? sound : player;
  heard.currentTime = Number(link.dataset.seek);
  // A browser may refuse to play; its controls then show that.
  heard.play().catch(() => {});
});

/** Marks the chapter and the paragraph being played. */
function mark({ target }) {
  for (const links of lists) {
    const heard = links.findLast(({ dataset }) => Number(dataset.seek) <= target.currentTime);
    for (const link of links) {
      if (link === heard && !target.ended) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  }
}
for (const one of [player, sound]) {
  for (const event of ['timeupdate', 'seeked', 'ended']) one?.addEventListener(event, mark);
}
// Two players must not play at the same time.
sound?.addEventListener('play', () => player.pause());
if (sound) player.addEventListener('play', () => sound.pause());
