import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { seatAt } from '../support/console-seat.ts';
import { serve } from '../support/program.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'tide-table';
const PIECES = 50;

test('a server killed under fifty forms did each whole or not at all, and a form sent again does its work once', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const keys = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER) ?? assert.fail();
  let serving = await serve(t, folder, { CARDS: 'off' });
  const api = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${serving.url}/${PAPER}/api/v1/${path}`, {
      method,
      headers: { 'x-nrf-key': keys.admin, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return response.json();
  };
  const ids: string[] = [];
  for (let n = 0; n < PIECES; n++) {
    const filed = await api('POST', 'stories', { ...storyBody(`piece-${n}`), air: false });
    ids.push(filed.story.id);
  }
  const send = (seat: ReturnType<typeof seatAt>) =>
    Promise.allSettled(ids.map((id) => seat.post(`pieces/${id}/air`, { when: 'now', once: `of ${id}` })));

  for (const delay of [15, 60, 150]) {
    const sending = send(seatAt(serving.url, folder, PAPER, 'admin'));
    await new Promise((resolve) => setTimeout(resolve, delay));
    serving.child.kill('SIGKILL');
    await Promise.all([serving.ended, sending]);
    serving = await serve(t, folder, { CARDS: 'off' });
    const app = openAppContext(readSettings(envIn(folder)));
    try {
      const archive = app.store.desk.archive(PAPER);
      const rows = app.store.desk.activity.list(PAPER, { limit: 1_000, action: 'piece.aired' });
      const aired = new Set(rows.flatMap(({ subject }) => subject?.id ?? []));
      for (const id of ids) assert.equal(archive.storyById(id)?.state === 'on_air', aired.has(id), id);
    } finally {
      app.close();
    }
  }
  const seat = seatAt(serving.url, folder, PAPER, 'admin');
  for (const answer of [...(await send(seat)), ...(await send(seat))])
    assert.ok(answer.status === 'fulfilled' && answer.value.status === 303, JSON.stringify(answer).slice(0, 500));
  const app = openAppContext(readSettings(envIn(folder)));
  try {
    const rows = app.store.desk.activity.list(PAPER, { limit: 1_000, action: 'piece.aired' });
    const ofForms = rows.flatMap(({ subject }) => (ids.includes(subject?.id ?? '') ? [subject?.id] : []));
    assert.deepEqual(ofForms.toSorted(), ids.toSorted(), 'each piece went on air once');
    assert.deepEqual((await auditApp(app, { deep: true })).faults, []);
  } finally {
    app.close();
  }
});
