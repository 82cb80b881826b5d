import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removedPage } from '../../api/desk/files/notices.ts';

test('the page of a removed paper is in its language, and in English where papers do not speak it', () => {
  const log = 'https://papers.example/log/';
  assert.match(
    removedPage('de-AT', log),
    /<html lang="de">[\s\S]*wurde entfernt\. [\s\S]*<a href="https:\/\/papers\.example\/log\/">Transparenz-Log<\/a>/,
  );
  assert.match(removedPage('is', log), /<html lang="en">[\s\S]*was removed/);
});
