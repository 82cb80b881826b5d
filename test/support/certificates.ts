import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Pair {
  key: string;
  cert: string;
  /** The certificate's SHA-256 as openssl prints it, in lower-case hex. */
  fingerprint: string;
}

export interface CertificateWish {
  /** Such as `/C=US/O=Somebody/CN=host.example`. */
  subject: string;
  /** Subject alternative names, such as `DNS:host.example`. */
  san?: readonly string[];
  /** Such as `20200101000000Z`. */
  from?: string;
  until?: string;
  /** Key options of `openssl req`. */
  key?: readonly string[];
  digest?: string;
}

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

/** Makes a self-signed certificate with openssl, in its own folder. */
export function selfSigned(folder: string, wish: CertificateWish): Pair {
  mkdirSync(folder, { recursive: true });
  const path = (name: string) => join(folder, name);
  const names = (wish.san ?? []).map((name, index) => name.replace(':', `.${index + 1} = `));
  const section =
    names.length > 0 ? `subjectAltName = @names\n[names]\n${names.join('\n')}\n` : 'basicConstraints = CA:FALSE\n';
  writeFileSync(
    path('ca.conf'),
    `[ca]
default_ca = self
[self]
database = ${path('index.txt')}
new_certs_dir = ${folder}
rand_serial = yes
policy = any
default_md = ${wish.digest ?? 'sha256'}
x509_extensions = extensions
preserve = yes
[any]
countryName = optional
organizationName = optional
commonName = optional
[req]
distinguished_name = any
[extensions]
${section}`,
  );
  writeFileSync(path('index.txt'), '');
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  openssl(
    'req',
    '-new',
    '-nodes',
    '-utf8',
    ...(wish.key ?? EC),
    '-subj',
    wish.subject,
    '-config',
    path('ca.conf'),
    '-keyout',
    path('key.pem'),
    '-out',
    path('request.pem'),
  );
  openssl(
    'ca',
    '-batch',
    '-notext',
    '-selfsign',
    '-config',
    path('ca.conf'),
    '-keyfile',
    path('key.pem'),
    '-in',
    path('request.pem'),
    '-out',
    path('cert.pem'),
    '-startdate',
    wish.from ?? '20260101000000Z',
    '-enddate',
    wish.until ?? '21260101000000Z',
  );
  const printed = openssl('x509', '-in', path('cert.pem'), '-noout', '-fingerprint', '-sha256');
  return {
    key: readFileSync(path('key.pem'), 'utf8'),
    cert: readFileSync(path('cert.pem'), 'utf8'),
    fingerprint: (printed.split('=')[1] ?? '').trim().replaceAll(':', '').toLowerCase(),
  };
}
