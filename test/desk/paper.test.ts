import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PaperBody } from '../../src/desk/papers/paper.ts';

test('a contact is a mail address or an https address of printable ASCII', () => {
  const takes = (contact: string) => PaperBody.safeParse({ nameplate: 'A', sections: ['B'], contact }).success;
  for (const contact of ['desk@a.example', 'https://a.example/contact']) assert.ok(takes(contact), contact);
  for (const contact of ['nobody', 'http://a.example/', 'https://a.example/\u202egpj', 'https://a.example/\r\nX: y'])
    assert.ok(!takes(contact), JSON.stringify(contact));
});
