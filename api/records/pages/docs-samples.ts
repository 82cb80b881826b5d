import { colouredCode } from '../../../src/desk/press/code-colours.ts';
import type { CodeSample } from '../../../src/records/views.ts';

/** A request of the documentation. `result` is the variable that its answer becomes, `shown` a path into it. */
interface SampleRequest {
  name: string;
  about: string;
  path: string;
  result: string;
  shown: readonly string[];
}

const requestsFor = (domain: string): SampleRequest[] => [
  {
    name: 'The newest observation',
    about: 'Every signal, the certificate and the receipt of one hostname.',
    path: `/v1/domains/${domain}`,
    ...{ result: 'record', shown: ['signals', 'A', 'values'] },
  },
  {
    name: 'The history of a signal',
    about:
      'Each value with the times at which it was first and last seen; `as_of=` on the address above has a record as it was.',
    path: `/v1/domains/${domain}/history?type=A`,
    ...{ result: 'history', shown: ['items'] },
  },
  {
    name: 'Changes of all hostnames',
    about: 'The newest first; `order=oldest` and `next_cursor` follow them without a gap.',
    path: '/v1/changes?type=NS&limit=20',
    ...{ result: 'changes', shown: ['items'] },
  },
];

const LANGUAGES: readonly { name: string; grammar: string; code(url: string, request: SampleRequest): string }[] = [
  { name: 'curl', grammar: 'bash', code: (url) => `curl -H "X-Service-Key: $KEY" "${url}"` },
  {
    name: 'JavaScript',
    grammar: 'javascript',
    code: (url, { result, shown }) => `const response = await fetch('${url}', {
  headers: { 'X-Service-Key': process.env.KEY },
});
if (!response.ok) throw new Error(await response.text());
const ${result} = await response.json();
console.log(${[result, ...shown].join('.')});`,
  },
  {
    name: 'Python',
    grammar: 'python',
    code: (url, { result, shown }) => `import json, os
from urllib.request import Request, urlopen

request = Request("${url}", headers={"X-Service-Key": os.environ["KEY"]})
with urlopen(request) as response:
    ${result} = json.load(response)
print(${result}${shown.map((name) => `["${name}"]`).join('')})`,
  },
  {
    name: 'Go',
    grammar: 'go',
    code: (url) => `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	request, err := http.NewRequest("GET", "${url}", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("X-Service-Key", os.Getenv("KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		log.Fatal(response.Status, " ", string(body))
	}
	fmt.Println(string(body))
}`,
  },
];

/** The requests of the documentation in each language, coloured. `root` is the address of the service. */
export function docsSamples(root: string, domain: string): Promise<CodeSample[]> {
  return Promise.all(
    requestsFor(domain).map(async (request) => ({
      name: request.name,
      about: request.about,
      path: request.path,
      languages: await Promise.all(
        LANGUAGES.map(async ({ name, grammar, code }) => ({
          name,
          spans: await colouredCode(code(root + request.path, request), grammar),
        })),
      ),
    })),
  );
}
