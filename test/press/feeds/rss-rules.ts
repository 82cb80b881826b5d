import { all, asNode, type Node, one, readXml, text } from './read-xml.ts';

/** RFC 822 with the four-digit year that RSS asks for. */
const RFC_822 =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const LANGUAGE = /^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$/;
const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+-]+$/;
const ACTIVE = /<(?:script|iframe|style|object|embed|form|link|meta|base)\b|\son[a-z]+\s*=|javascript:/i;

function isHttp(url: string | null): boolean {
  return url !== null && /^https?:\/\//.test(url) && URL.canParse(url);
}

/** What is wrong with a date, if anything: its form, its weekday. */
function dateFault(where: string, date: string | null): string[] {
  if (date === null) return [];
  const isReal = RFC_822.test(date) && new Date(date).toUTCString() === date;
  return isReal ? [] : [`${where}: ${date} is not an RFC 822 date`];
}

/** What the W3C feed validator would find in an RSS 2.0 feed that should be at `self`. */
export function rssFaults(xml: string, self: string): string[] {
  const faults: string[] = [];
  const check = (holds: boolean, fault: string) => void (holds || faults.push(fault));
  check(!/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(xml), 'a character that XML forbids');

  // A reader that cannot read it has found enough.
  let document: ReturnType<typeof readXml>;
  try {
    document = readXml(xml);
  } catch (error) {
    return [...faults, (error as Error).message];
  }
  const rss = one(document, 'rss');
  check(rss['@version'] === '2.0', 'the version is not 2.0');
  for (const [, prefix] of xml.replace(/<!\[CDATA\[.*?\]\]>/gs, '').matchAll(/<([a-z]+):[a-z]/gi)) {
    check(`@xmlns:${prefix}` in rss, `the prefix ${prefix} is not bound`);
  }

  const channel = one(rss, 'channel');
  for (const name of ['title', 'link', 'description', 'language', 'ttl', 'image', 'lastBuildDate']) {
    check(all(channel, name).length <= 1, `${name} stands twice in the channel`);
  }
  for (const name of ['title', 'link', 'description'])
    check(!!text(channel, name)?.trim(), `the channel has no ${name}`);
  check(isHttp(text(channel, 'link')), "the channel's link is not an address");
  const language = text(channel, 'language');
  check(language === null || LANGUAGE.test(language), `${language} is not a language`);
  const ttl = text(channel, 'ttl');
  check(ttl === null || /^[1-9]\d*$/.test(ttl), `ttl ${ttl} is not a number of minutes`);
  faults.push(...dateFault('lastBuildDate', text(channel, 'lastBuildDate')));
  for (const image of all(channel, 'image').map(asNode)) {
    check(text(image, 'title') === text(channel, 'title'), "the image's title is not the channel's");
    check(text(image, 'link') === text(channel, 'link'), "the image's link is not the channel's");
    check(isHttp(text(image, 'url')), "the image's url is not an address");
  }
  const links = all(channel, 'atom:link').map(asNode);
  const selves = links.filter((link) => link['@rel'] === 'self');
  check(selves.length === 1 && selves[0]?.['@href'] === self, 'the self link is not where the feed is');
  check(selves[0]?.['@type'] === 'application/rss+xml', 'the self link has no type');

  const guids = new Set<string>();
  for (const item of all(channel, 'item').map(asNode)) {
    const name = text(item, 'title') ?? '?';
    faults.push(...itemFaults(item).map((fault) => `${name}: ${fault}`));
    const guid = text(item, 'guid') ?? '';
    check(!guids.has(guid), `${name}: the guid ${guid} stands twice`);
    guids.add(guid);
  }
  return faults;
}

function itemFaults(item: Node): string[] {
  const faults: string[] = [];
  const check = (holds: boolean, fault: string) => void (holds || faults.push(fault));
  for (const name of [
    'title',
    'link',
    'description',
    'guid',
    'pubDate',
    'enclosure',
    'content:encoded',
    'dc:creator',
  ]) {
    check(all(item, name).length <= 1, `${name} stands twice`);
  }
  check(text(item, 'title') !== null || text(item, 'description') !== null, 'neither title nor description');
  check(isHttp(text(item, 'link')), 'the link is not an address');
  const guid = one(item, 'guid');
  check(!!text(guid), 'no guid');
  check(guid['@isPermaLink'] === 'false' || isHttp(text(guid)), 'a guid that is no address is called a permalink');
  check(text(item, 'pubDate') !== null, 'no pubDate');
  faults.push(...dateFault('pubDate', text(item, 'pubDate')));
  for (const enclosure of all(item, 'enclosure').map(asNode)) {
    check(isHttp(String(enclosure['@url'])), 'the enclosure has no address');
    check(/^[1-9]\d*$/.test(String(enclosure['@length'])), 'the enclosure has no length');
    check(MEDIA_TYPE.test(String(enclosure['@type'])), 'the type of the enclosure is not one');
  }
  check(all(item, 'author').length === 0 || /@/.test(text(item, 'author') ?? ''), 'author is not a mail address');
  const content = text(item, 'content:encoded');
  if (content !== null) faults.push(...htmlFaults(content));
  return faults;
}

/** What is wrong with HTML that must stand by itself in somebody else's page. */
export function htmlFaults(html: string): string[] {
  const faults: string[] = [];
  const tags = html.match(/<[^>]*>/g) ?? [];
  for (const tag of tags) {
    for (const [, name, value = ''] of tag.matchAll(/\s([a-z-]+)="([^"]*)"/gi)) {
      if (name === 'id' || name === 'style' || name === 'class') faults.push(`${tag} carries ${name}`);
      if ((name === 'href' || name === 'src') && !/^(?:https?:\/\/|mailto:)/.test(value)) {
        faults.push(`${tag} has a relative address`);
      }
    }
    if (ACTIVE.test(tag)) faults.push(`${tag} may run`);
  }
  const open: string[] = [];
  for (const tag of tags) {
    const name = /^<\/?([a-z0-9]+)/i.exec(tag)?.[1] ?? '';
    if (['br', 'hr', 'img'].includes(name)) continue;
    if (!tag.startsWith('</')) open.push(name);
    else if (open.pop() !== name) faults.push(`${tag} closes what is not open`);
  }
  if (open.length > 0) faults.push(`not closed: ${open.join(' ')}`);
  return faults;
}
