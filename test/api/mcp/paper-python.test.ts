import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { tempFolder } from '../../support/app-context.ts';
import { seatAt } from '../../support/console-seat.ts';
import { send } from '../../support/send.ts';
import { serveHere } from '../../support/serve-here.ts';
import { enterPapers, storyBody } from '../../support/small-papers.ts';

/** What the program needs of `pip install mcp`. */
const IMPORTS = `
import asyncio, json, sys
from urllib.parse import parse_qs, urlparse
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
`;

/** Signs in as the package's documentation says, then plays the way of a piece, and prints each result as a line. */
const PROGRAM = `${IMPORTS}
class Storage(TokenStorage):
    tokens = info = None
    async def get_tokens(self): return self.tokens
    async def set_tokens(self, tokens): self.tokens = tokens
    async def get_client_info(self): return self.info
    async def set_client_info(self, info): self.info = info

def say(value): print(json.dumps(value), flush=True)

async def asked(url): say({"asked": url})

async def answered():
    query = parse_qs(urlparse(sys.stdin.readline().strip()).query)
    return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=query["iss"][0])

async def main(url, draft):
    metadata = OAuthClientMetadata(client_name="A desk in Python", redirect_uris=["http://127.0.0.1:49153/callback"],
        token_endpoint_auth_method="none", scope="read write")
    auth = OAuthClientProvider(url, metadata, Storage(), asked, answered)
    transport = streamable_http_client(url, http_client=create_mcp_http_client(auth=auth))
    async with Client(transport) as client:
        say([tool.name for tool in (await client.list_tools()).tools])
        async def call(name, **given):
            result = await client.call_tool(name, given)
            say(result.structured_content)
            return result.structured_content
        await call("search_stories", q="high water")
        await call("find_facts", source="NIST")
        await call("check_piece", **{**draft, "prose": "One.[^9]"})
        await call("file_piece", **{**draft, "prose": "One.[^9]"})
        filed = await call("file_piece", **draft, idempotency_key="python-1")
        story = filed["story"]
        await call("schedule_piece", id=story["id"])
        body = {name: value for name, value in draft.items() if name != "slug"}
        await call("revise_piece", **{**body, "dek": "Right."}, id=story["id"], revision=1, correction="The dek was wrong.")
        await call("read_story", id=story["id"])

asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
`;

const PYTHON = process.env.MCP_PYTHON ?? 'python3';
const WITHOUT_PACKAGE =
  spawnSync(PYTHON, ['-c', IMPORTS], { stdio: 'ignore' }).status !== 0 && 'needs python3 with mcp: pip install mcp';

test('the client of Python signs in, looks up, drafts, checks, files and corrects', {
  skip: WITHOUT_PACKAGE,
}, async (t) => {
  const folder = tempFolder(t);
  const admin = (await enterPapers(folder, [{ slug: 'shared' }])).get('shared')?.admin ?? '';
  const { url } = await serveHere(t, folder);
  const keyed = { 'x-nrf-key': admin };
  const { version } = JSON.parse((await send(url, { path: '/shared/api/v1/agent/terms', headers: keyed })).text);
  const terms = { method: 'POST', path: '/shared/api/v1/agent/terms/accept', headers: keyed };
  await send(url, { ...terms, body: { version, signed_by: 'Mara Vell' } });
  const seat = seatAt(url, folder, 'shared', 'admin');

  const child = spawn(PYTHON, ['-c', PROGRAM, `${url}/shared/mcp?scope=write`, JSON.stringify(storyBody('by-python'))]);
  t.after(() => child.kill());
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  // biome-ignore lint/suspicious/noExplicitAny: members of many results
  const said: any[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const value = JSON.parse(line);
    if (value.asked === undefined) {
      said.push(value);
      continue;
    }
    const asked = new URL(value.asked).search.slice(1);
    const { location } = await seat.post('authorize', { asked, decision: 'allow', scope: 'write' });
    child.stdin.write(`${location}\n`);
  }
  assert.equal(said.length, 9, errors);
  const [names, found, facts, checked, refused, filed, aired, revised, read] = said;
  assert.ok(names.includes('file_piece') && !names.includes('withdraw_piece'));
  assert.equal(found.stories[0].slug, 'high-water');
  assert.equal(facts.count, 3);
  assert.ok(checked.problems.length > 0);
  assert.deepEqual([refused.error, refused.problems.length], ['refused_by_door', checked.problems.length]);
  assert.deepEqual([filed.story.state, aired.story.state, revised.story.revision], ['draft', 'on_air', 2]);
  assert.deepEqual([read.dek, read.corrections[0].note], ['Right.', 'The dek was wrong.']);
});
