import { AgentCheck, agentCheck } from '../../../src/desk/papers/agent-check.ts';
import { NO_WORK } from '../../../src/desk/papers/keys.ts';
import { contactUrl } from '../../../src/desk/papers/paper.ts';
import {
  currentAgreement,
  signatureOf,
  signTerms,
  TermsAcceptance,
  TermsRecord,
  termsRecord,
} from '../../../src/desk/papers/terms.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { archiveOf, linksFor } from '../context.ts';
import { operationsUnder, writes } from '../route.ts';
import { Pressing, type Writer, write } from './write.ts';

const operation = operationsUnder('Agents');

const check = {
  operationId: 'checkAgent',
  summary: 'What your key is, and what to do next',
  description: 'A 200 means that the key is valid for this paper. Nothing is spent or written.',
  responses: { 200: ok(AgentCheck, 'The key, and where help is.') },
};

const terms = {
  operationId: 'readTerms',
  summary: 'The agreement that an agent’s writes need',
  responses: { 200: ok(TermsRecord, 'The text in force, and whether this paper has signed it.') },
};

const accept = writes({
  operationId: 'acceptTerms',
  summary: 'Sign the agreement for the paper',
  description: 'The version must be the one in force.',
  request: { body: body(TermsAcceptance) },
  responses: {
    200: ok(TermsRecord.safeExtend(Pressing).openapi('SignedTerms'), 'The agreement, signed.'),
    ...faults(409),
  },
});

/** The agent check and the agreement. */
export function agentHandlers(writer: Writer) {
  const { app } = writer;
  const { terms: signatures, activity } = app.store.desk;
  const agreement = () => currentAgreement(app.settings);
  return {
    check: operation(check, (c) => {
      const key = requireKeyOfLevel(c.get('key'), 'read');
      const { slug, root, paper } = c.get('site');
      const signed = signatureOf(signatures, agreement(), slug) !== null;
      const avatar = key.persona === null ? null : linksFor(app, c).avatar(key.persona);
      const { filed, refused } = activity.workOf(key.id) ?? NO_WORK;
      return agentCheck({ key, work: { filed, refused }, signed, avatar, root, contact: contactUrl(paper) });
    }),
    terms: operation(terms, (c) => termsRecord(agreement(), signatureOf(signatures, agreement(), c.get('site').slug))),
    accept: operation(accept, (c) => {
      const { version, signed_by } = c.req.valid('json');
      return write(writer, c, (key) => {
        const paper = archiveOf(app, c).paper().slug;
        const isSigned = signatureOf(signatures, agreement(), paper) !== null;
        const signing = { paper, version, signed_by, key: key.id, now: app.clock.now() };
        const signature = signTerms({ ...signing, terms: signatures, agreement: agreement() });
        const detail = { version, signed_by: signature.signed_by };
        const did = isSigned ? [] : [{ action: 'terms.accepted' as const, detail }];
        return { status: 200, body: termsRecord(agreement(), signature), did };
      });
    }),
  };
}
