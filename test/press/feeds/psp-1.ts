import { all, asNode, one, readXml, text } from './read-xml.ts';

const NAMESPACES: Record<string, string> = {
  itunes: 'http://www.itunes.com/dtds/podcast-1.0.dtd',
  podcast: 'https://podcastindex.org/namespace/1.0',
  atom: 'http://www.w3.org/2005/Atom',
  content: 'http://purl.org/rss/1.0/modules/content/',
};
const UUID_5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DESCRIPTION_BYTES_MAX = 4_000;

/** What PSP-1 of the Podcast Standards Project would find in a podcast that should be at `self`. */
export function pspFaults(xml: string, self: string): string[] {
  const faults: string[] = [];
  const check = (holds: boolean, fault: string) => void (holds || faults.push(fault));
  const rss = one(readXml(xml), 'rss');
  check(rss['@version'] === '2.0', 'the version is not 2.0');
  for (const [prefix, address] of Object.entries(NAMESPACES)) {
    check(rss[`@xmlns:${prefix}`] === address, `the namespace ${prefix} is not bound on rss`);
  }
  const channel = one(rss, 'channel');
  for (const name of [
    'title',
    'description',
    'link',
    'language',
    'itunes:explicit',
    'podcast:guid',
    'podcast:locked',
    'itunes:author',
  ]) {
    check(all(channel, name).length === 1 && !!text(channel, name)?.trim(), `the channel wants one ${name}`);
  }
  check(Buffer.byteLength(text(channel, 'description') ?? '') <= DESCRIPTION_BYTES_MAX, 'the description is too long');
  check(
    ['true', 'false'].includes(text(channel, 'itunes:explicit') ?? ''),
    'itunes:explicit is neither true nor false',
  );
  check(['yes', 'no'].includes(text(channel, 'podcast:locked') ?? ''), 'podcast:locked is neither yes nor no');
  check(UUID_5.test(text(channel, 'podcast:guid') ?? ''), 'podcast:guid is no UUIDv5');
  const link = asNode(all(channel, 'atom:link')[0] ?? {});
  check(link['@href'] === self && link['@rel'] === 'self' && link['@type'] === 'application/rss+xml', 'no self link');
  check(
    all(channel, 'itunes:category')
      .map(asNode)
      .some((category) => category['@text'] === 'News'),
    'no category',
  );
  check(isCover(asNode(all(channel, 'itunes:image')[0] ?? {})['@href']), 'no cover, or not JPEG or PNG');

  const guids = new Set<string>();
  for (const item of all(channel, 'item').map(asNode)) {
    const name = text(item, 'title') ?? '?';
    const enclosure = asNode(all(item, 'enclosure')[0] ?? {});
    const guid = text(item, 'guid') ?? '';
    const date = text(item, 'pubDate') ?? '';
    check(!!text(item, 'title')?.trim(), 'an episode has no title');
    check(all(item, 'enclosure').length === 1, `${name}: not one enclosure`);
    check(/^https?:\/\/\S+$/.test(String(enclosure['@url'])), `${name}: the enclosure has no address`);
    check(/^[1-9]\d*$/.test(String(enclosure['@length'])), `${name}: the enclosure has no length`);
    check(/^(audio|video)\//.test(String(enclosure['@type'])), `${name}: the enclosure is neither sound nor film`);
    check(guid !== '' && !guids.has(guid), `${name}: the guid is missing or taken`);
    guids.add(guid);
    check(new Date(date).toUTCString() === date, `${name}: pubDate is not an RFC 822 date`);
    check(/^\d+$/.test(text(item, 'itunes:duration') ?? ''), `${name}: the duration is not in seconds`);
    check(
      Buffer.byteLength(text(item, 'description') ?? '') <= DESCRIPTION_BYTES_MAX,
      `${name}: the description is too long`,
    );
    check(/^https?:/.test(text(item, 'link') ?? ''), `${name}: no link`);
    for (const image of all(item, 'itunes:image').map(asNode))
      check(isCover(image['@href']), `${name}: the cover is not JPEG or PNG`);
    for (const captions of all(item, 'podcast:transcript').map(asNode)) {
      check(/^https?:/.test(String(captions['@url'])), `${name}: the transcript has no address`);
      check(captions['@type'] === 'text/vtt', `${name}: the type of the transcript is not text/vtt`);
    }
  }
  return faults;
}

function isCover(url: unknown): boolean {
  return typeof url === 'string' && /^https?:\/\/\S+\.(jpe?g|png)$/i.test(url);
}
