import type { TrackedName } from './tracked-values.ts';

/** The name of a signal in a word or two, and what a change may mean in a sentence or two. */
interface Meaning {
  title: string;
  meaning: string;
}

/** For readers who do not know DNS. docs/domain-records.md has the same table. */
export const SIGNAL_MEANINGS: Readonly<Record<TrackedName, Meaning>> = {
  A: {
    title: 'IPv4 addresses',
    meaning:
      'Where browsers connect. A change often means another server or another provider; content networks change their pools all the time.',
  },
  AAAA: { title: 'IPv6 addresses', meaning: 'Where browsers connect over IPv6. It usually changes together with A.' },
  CNAME: {
    title: 'Alias',
    meaning:
      'The name stands for another name, whose operator answers for it. An alias to a name that nobody holds any more can be taken over.',
  },
  NS: {
    title: 'Name servers',
    meaning:
      'Who answers for the zone. The operator of these servers can change every other record, so an unexpected change is the most serious of all.',
  },
  SOA: {
    title: 'Start of the zone',
    meaning:
      'The primary server, the contact and the timers of the zone, without its serial number. It changes when the zone moves to another operator.',
  },
  MX: {
    title: 'Mail servers',
    meaning: 'Where mail is delivered. An unexpected change can divert mail, and with it links that reset passwords.',
  },
  TXT: {
    title: 'Texts',
    meaning:
      'Policies such as SPF, which says who may send mail for the name, and tokens by which services confirm who holds it.',
  },
  CAA: {
    title: 'Certificate authorities',
    meaning: 'Which authorities may issue certificates for the name. Without such a record, all of them may.',
  },
  DS: {
    title: 'Link to DNSSEC',
    meaning:
      'The fingerprint of the zone’s keys at its parent. When it is removed, answers are no longer protected; when it fits no key, the name fails for everybody who validates.',
  },
  DNSKEY: {
    title: 'Keys of DNSSEC',
    meaning: 'The keys with which the zone signs its answers. They are replaced from time to time.',
  },
  HTTPS: {
    title: 'How to connect',
    meaning: 'Protocols, ports and keys for browsers. Content networks change these often.',
  },
  SVCB: { title: 'Service binding', meaning: 'The same as HTTPS, for services other than the web.' },
  TLSA: {
    title: 'Pinned certificates',
    meaning:
      'Which certificate or key clients should accept on port 443 (DANE). It should change with the certificate.',
  },
  DMARC: {
    title: 'Mail policy',
    meaning:
      'What receivers do with mail that fails SPF and DKIM: nothing, quarantine or reject. A weaker policy makes it easier to forge mail.',
  },
  WWW_A: { title: 'IPv4 addresses of www', meaning: 'The same as A, at the name below www.' },
  WWW_AAAA: { title: 'IPv6 addresses of www', meaning: 'The same as AAAA, at the name below www.' },
  WWW_CNAME: {
    title: 'Alias of www',
    meaning: 'The same as CNAME, at the name below www. Many sites point it at their host.',
  },
  WWW_HTTPS: { title: 'How to connect to www', meaning: 'The same as HTTPS, at the name below www.' },
  CERTIFICATE: {
    title: 'TLS certificate',
    meaning:
      'What the host shows on port 443. It is renewed every few weeks or months; an issuer that was never seen before deserves a look.',
  },
};
