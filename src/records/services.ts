import { entriesOf } from '../proof/narrow.ts';
import type { ServiceSeen } from '../proof/records/record.ts';
import type { SignalType } from '../proof/records/signal.ts';

type Values = Partial<Record<SignalType, readonly string[]>>;

/** The services that a probe's records point to, sorted by name. */
export function servicesSeen({
  signals,
}: {
  signals: Partial<Record<SignalType, { values: string[] }>>;
}): ServiceSeen[] {
  return servicesOf(Object.fromEntries(entriesOf(signals).map(([type, { values }]) => [type, values])));
}

/** The services to which values point, sorted by name, without duplicates. */
export function servicesOf(values: Values): ServiceSeen[] {
  const hosts = Object.fromEntries(entriesOf(values).map(([type, list]) => [type, list.map(hostIn)]));
  const texts = (values.TXT ?? []).map((value) => unquoted(value).toLowerCase());
  const included = texts.flatMap(includesOf);
  const found: ServiceSeen[] = [];
  for (const pattern of SERVICES) {
    const seen_in = entriesOf(pattern.hosts ?? {})
      .filter(([type, ends]) => hosts[type]?.some((host) => ends.some((end) => isAtOrBelow(host, end))))
      .map(([type]) => type);
    const isInTexts =
      pattern.txt?.some((beginning) => texts.some((text) => text.startsWith(beginning))) ||
      pattern.spf?.some((name) => included.some((host) => isAtOrBelow(host, name)));
    if (isInTexts) seen_in.push('TXT');
    const { nameserver } = pattern;
    if (nameserver !== undefined && hosts.NS?.some((host) => nameserver.test(host))) seen_in.push('NS');
    if (seen_in.length > 0) found.push({ service: pattern.service, kind: pattern.kind, seen_in: seen_in.sort() });
  }
  return found.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

function order({ service, kind }: ServiceSeen): string {
  return `${service}\n${kind}`;
}

/** The host in a value: the last word, because an MX value begins with its preference. */
function hostIn(value: string): string {
  return value
    .slice(value.lastIndexOf(' ') + 1)
    .toLowerCase()
    .replace(/\.$/, '');
}

function isAtOrBelow(host: string, name: string): boolean {
  return host.endsWith(name) && (host.length === name.length || host[host.length - name.length - 1] === '.');
}

/** The strings of a TXT value joined, without the quotation marks of the presentation form. */
function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1).replace(/"$/, '').replaceAll('" "', '') : value;
}

/** The names that an SPF record includes (RFC 7208, section 5.2); none for any other text. */
function includesOf(text: string): string[] {
  if (!text.startsWith('v=spf1 ')) return [];
  return text
    .split(/\s+/)
    .filter((term) => /^\+?include:/.test(term))
    .map((term) => term.slice(term.indexOf(':') + 1));
}

/** How to recognize a service in DNS records: by host suffixes or by text prefixes. */
interface ServicePattern {
  service: string;
  kind: 'mail' | 'dns' | 'hosting' | 'cdn' | 'verification' | 'security';
  /** The record's host is one of these names or a subdomain of one. */
  hosts?: Partial<Record<SignalType, readonly string[]>>;
  nameserver?: RegExp;
  /** Prefixes of TXT records, in lower case. */
  txt?: readonly string[];
  spf?: readonly string[];
}

const CNAMES = (...hosts: string[]) => ({ CNAME: hosts, WWW_CNAME: hosts });

/** The services that can be recognized, maintained by hand from public documentation. Adding a row needs no code. */
export const SERVICES: readonly ServicePattern[] = [
  // Mail
  { service: 'Google Workspace', kind: 'mail', hosts: { MX: ['google.com', 'googlemail.com'] } },
  { service: 'Microsoft 365', kind: 'mail', hosts: { MX: ['mail.protection.outlook.com', 'mx.microsoft'] } },
  { service: 'Proton Mail', kind: 'mail', hosts: { MX: ['protonmail.ch'] } },
  { service: 'Zoho Mail', kind: 'mail', hosts: { MX: ['zoho.com', 'zoho.eu', 'zoho.in'] } },
  { service: 'Fastmail', kind: 'mail', hosts: { MX: ['messagingengine.com'] } },
  { service: 'iCloud Mail', kind: 'mail', hosts: { MX: ['mail.icloud.com'] } },
  { service: 'Yandex 360', kind: 'mail', hosts: { MX: ['yandex.net', 'yandex.ru'] } },
  { service: 'Amazon WorkMail', kind: 'mail', hosts: { MX: ['awsapps.com'] } },
  { service: 'Amazon SES', kind: 'mail', hosts: { MX: ['amazonaws.com'] }, spf: ['amazonses.com'] },
  { service: 'Cloudflare Email Routing', kind: 'mail', hosts: { MX: ['mx.cloudflare.net'] } },
  { service: 'GoDaddy Email', kind: 'mail', hosts: { MX: ['secureserver.net'] } },
  { service: 'Rackspace Email', kind: 'mail', hosts: { MX: ['emailsrvr.com'] } },
  { service: 'IONOS Mail', kind: 'mail', hosts: { MX: ['kundenserver.de', 'ionos.com', 'ionos.de'] } },
  { service: 'OVHcloud Mail', kind: 'mail', hosts: { MX: ['mail.ovh.net'] } },
  { service: 'Migadu', kind: 'mail', hosts: { MX: ['migadu.com'] } },
  { service: 'Mailgun', kind: 'mail', hosts: { MX: ['mailgun.org'] }, spf: ['mailgun.org'] },
  { service: 'SendGrid', kind: 'mail', hosts: { MX: ['sendgrid.net'] }, spf: ['sendgrid.net'] },
  { service: 'Mailchimp', kind: 'mail', spf: ['servers.mcsv.net', 'spf.mandrillapp.com'] },
  { service: 'Postmark', kind: 'mail', spf: ['spf.mtasv.net'] },
  { service: 'Zendesk', kind: 'mail', spf: ['mail.zendesk.com'] },
  // Mail filters
  { service: 'Proofpoint', kind: 'security', hosts: { MX: ['pphosted.com', 'ppe-hosted.com'] } },
  { service: 'Mimecast', kind: 'security', hosts: { MX: ['mimecast.com'] } },
  { service: 'Barracuda', kind: 'security', hosts: { MX: ['barracudanetworks.com'] } },
  { service: 'Cisco Secure Email', kind: 'security', hosts: { MX: ['iphmx.com'] } },
  { service: 'Trend Micro Email Security', kind: 'security', hosts: { MX: ['tmes.trendmicro.com'] } },
  // DNS
  { service: 'Amazon Route 53', kind: 'dns', nameserver: /\.awsdns-\d{2}\.(?:com|net|org|co\.uk)$/ },
  { service: 'Cloudflare DNS', kind: 'dns', hosts: { NS: ['ns.cloudflare.com', 'foundationdns.com'] } },
  {
    service: 'Azure DNS',
    kind: 'dns',
    hosts: { NS: ['azure-dns.com', 'azure-dns.net', 'azure-dns.org', 'azure-dns.info'] },
  },
  { service: 'Google Cloud DNS', kind: 'dns', hosts: { NS: ['googledomains.com'] } },
  { service: 'GoDaddy DNS', kind: 'dns', hosts: { NS: ['domaincontrol.com'] } },
  { service: 'Akamai Edge DNS', kind: 'dns', hosts: { NS: ['akam.net'] } },
  { service: 'NS1', kind: 'dns', hosts: { NS: ['nsone.net'] } },
  { service: 'UltraDNS', kind: 'dns', hosts: { NS: ['ultradns.net', 'ultradns.com', 'ultradns.org', 'ultradns.biz'] } },
  { service: 'DNSimple', kind: 'dns', hosts: { NS: ['dnsimple.com', 'dnsimple-edge.net'] } },
  { service: 'DNS Made Easy', kind: 'dns', hosts: { NS: ['dnsmadeeasy.com'] } },
  { service: 'Namecheap DNS', kind: 'dns', hosts: { NS: ['registrar-servers.com'] } },
  {
    service: 'Hetzner DNS',
    kind: 'dns',
    hosts: { NS: ['ns.hetzner.com', 'ns.hetzner.de', 'first-ns.de', 'second-ns.de'] },
  },
  { service: 'deSEC', kind: 'dns', hosts: { NS: ['desec.io', 'desec.org'] } },
  { service: 'Hurricane Electric DNS', kind: 'dns', hosts: { NS: ['he.net'] } },
  { service: 'DigitalOcean DNS', kind: 'dns', hosts: { NS: ['digitalocean.com'] } },
  { service: 'Gandi DNS', kind: 'dns', hosts: { NS: ['gandi.net'] } },
  { service: 'OVHcloud DNS', kind: 'dns', hosts: { NS: ['ovh.net', 'anycast.me'] } },
  // Hosting
  { service: 'GitHub Pages', kind: 'hosting', hosts: CNAMES('github.io') },
  { service: 'Netlify', kind: 'hosting', hosts: CNAMES('netlify.app', 'netlify.com', 'netlifyglobalcdn.com') },
  { service: 'Vercel', kind: 'hosting', hosts: CNAMES('vercel-dns.com', 'vercel.app') },
  { service: 'Heroku', kind: 'hosting', hosts: CNAMES('herokudns.com', 'herokuapp.com') },
  { service: 'Shopify', kind: 'hosting', hosts: CNAMES('myshopify.com') },
  { service: 'Squarespace', kind: 'hosting', hosts: CNAMES('squarespace.com') },
  { service: 'Wix', kind: 'hosting', hosts: CNAMES('wixdns.net') },
  { service: 'WordPress.com', kind: 'hosting', hosts: { ...CNAMES('wordpress.com'), NS: ['wordpress.com'] } },
  { service: 'WP Engine', kind: 'hosting', hosts: CNAMES('wpengine.com', 'wpeproxy.com') },
  { service: 'Pantheon', kind: 'hosting', hosts: CNAMES('pantheonsite.io') },
  { service: 'Azure App Service', kind: 'hosting', hosts: CNAMES('azurewebsites.net') },
  { service: 'Amazon Web Services', kind: 'hosting', hosts: CNAMES('amazonaws.com') },
  { service: 'cloud.gov', kind: 'hosting', hosts: CNAMES('cloud.gov') },
  { service: 'Cloudflare Pages', kind: 'hosting', hosts: CNAMES('pages.dev') },
  { service: 'Fly.io', kind: 'hosting', hosts: CNAMES('fly.dev') },
  { service: 'Render', kind: 'hosting', hosts: CNAMES('onrender.com') },
  // Content delivery
  { service: 'Amazon CloudFront', kind: 'cdn', hosts: CNAMES('cloudfront.net') },
  { service: 'Cloudflare', kind: 'cdn', hosts: CNAMES('cdn.cloudflare.net') },
  { service: 'Akamai', kind: 'cdn', hosts: CNAMES('akamaiedge.net', 'edgekey.net', 'edgesuite.net', 'akamai.net') },
  { service: 'Fastly', kind: 'cdn', hosts: CNAMES('fastly.net', 'fastlylb.net') },
  { service: 'Azure Front Door', kind: 'cdn', hosts: CNAMES('azurefd.net', 'azureedge.net') },
  { service: 'Imperva', kind: 'cdn', hosts: CNAMES('incapdns.net', 'impervadns.net') },
  { service: 'bunny.net', kind: 'cdn', hosts: CNAMES('b-cdn.net') },
  // Tokens that prove control of the zone
  { service: 'Google', kind: 'verification', txt: ['google-site-verification='] },
  { service: 'Microsoft', kind: 'verification', txt: ['ms='] },
  { service: 'Apple', kind: 'verification', txt: ['apple-domain-verification='] },
  { service: 'Meta', kind: 'verification', txt: ['facebook-domain-verification='] },
  { service: 'Adobe', kind: 'verification', txt: ['adobe-idp-site-verification=', 'adobe-sign-verification='] },
  { service: 'Atlassian', kind: 'verification', txt: ['atlassian-domain-verification='] },
  { service: 'DocuSign', kind: 'verification', txt: ['docusign='] },
  { service: 'Dropbox', kind: 'verification', txt: ['dropbox-domain-verification='] },
  {
    service: 'GlobalSign',
    kind: 'verification',
    txt: ['globalsign-domain-verification=', '_globalsign-domain-verification='],
  },
  { service: 'OpenAI', kind: 'verification', txt: ['openai-domain-verification='] },
  { service: 'Stripe', kind: 'verification', txt: ['stripe-verification='] },
  { service: 'Webex', kind: 'verification', txt: ['ciscocidomainverification=', 'webexdomainverification.'] },
  { service: 'Zoom', kind: 'verification', txt: ['zoom_verify_', 'zoom-domain-verification='] },
  { service: 'Have I Been Pwned', kind: 'verification', txt: ['have-i-been-pwned-verification='] },
];
