import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { type Document, isMap, isScalar, LineCounter, parseDocument, type YAMLParseError } from 'yaml';
import { sha256 } from '../../proof/basis.ts';
import { membersIn } from '../../proof/narrow.ts';
import { messageOf } from '../../shared/fault.ts';
import type { Problem } from '../../shared/shape.ts';

export interface FileProblem {
  file: string;
  line: number;
  field: string;
  rule: string;
  message: string;
}

/** A problem as one line for a terminal: `stories/x.md:7 cited_facts[1].source: …`. */
export function problemLine({ file, line, field, message }: FileProblem): string {
  return `${file}:${line} ${field}: ${message}`;
}

/** A text file: its content, and the position of each field. */
export interface SourceFile {
  file: string;
  /** `sha256:<hex>` of its bytes; empty when they could not be read. */
  digest: string;
  /** The YAML as plain values; null when it could not be read. */
  data: Record<string, unknown> | null;
  /** The values of a file in which a field appears twice. It must not be applied; its other fields are checked. */
  faulty: Record<string, unknown> | null;
  /** The text after the front matter; empty for a YAML file. */
  body: string;
  problems: FileProblem[];
  /** Adds the file and line to problems of fields. */
  locate(problems: Problem[]): FileProblem[];
}

/** Reads a YAML file, or a Markdown file with YAML front matter. `file` is its name in reports. */
export function readSource(path: string, file: string, kind: 'yaml' | 'markdown'): SourceFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const message = `the file cannot be read (${messageOf(error)}); replace it with a readable file`;
    return unreadable(file, 1, 'unreadable', message);
  }
  if (!isUtf8(bytes)) {
    const message = `the file is ${isUtf16(bytes) ? 'in UTF-16' : 'not in UTF-8'}; save it in UTF-8`;
    return unreadable(file, firstBadLine(bytes), 'not_utf8', message);
  }
  const text = new TextDecoder().decode(bytes);
  const digest = sha256(bytes);
  if (kind === 'yaml') return { ...withYaml(file, text, 1, '', 1), digest };
  const match = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text);
  if (match === null || match.index !== 0) {
    const why = /^---[ \t]*\r?\n/.test(text)
      ? 'the front matter has no end; close it with a line --- below the fields'
      : 'the file does not begin with front matter; begin it with a line ---, the fields, and a line ---';
    return unreadable(file, 1, 'front_matter', why);
  }
  const rest = text.slice(match[0].length);
  const blank = /^\s*/.exec(rest)?.[0] ?? '';
  const bodyLine = 1 + countLines(match[0]) + countLines(blank);
  return { ...withYaml(file, match[1] ?? '', 2, rest, bodyLine), digest };
}

function withYaml(
  file: string,
  yaml: string,
  firstLine: number,
  body: string,
  bodyLine: number,
): Omit<SourceFile, 'digest'> {
  const counter = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: counter, prettyErrors: false });
  const lineAt = (offset: number): number => counter.linePos(offset).line - 1 + firstLine;
  const problems: FileProblem[] = [];
  const refuse = (line: number, message: string) => {
    problems.push({ file, line, field: 'yaml', rule: 'malformed', message });
  };
  for (const error of document.errors) refuse(lineAt(error.pos[0]), yamlMessage(error));
  let data: Record<string, unknown> | null = null;
  let faulty: Record<string, unknown> | null = null;
  if (problems.length > 0) {
    const isWhole = document.errors.every(({ code }) => code === 'DUPLICATE_KEY') && isMap(document.contents);
    if (isWhole) faulty = membersIn(document.toJS());
  } else if (!isMap(document.contents)) {
    refuse(firstLine, 'there are no fields; write them as name: value');
  } else {
    try {
      data = membersIn(document.toJS());
    } catch (error) {
      // An alias (*name) without an anchor, or one that expands to too much.
      refuse(firstLine, `${messageOf(error)}; write the value out, or quote a text that begins with *`);
    }
  }
  return {
    file,
    data,
    faulty,
    body,
    problems,
    locate: (list) =>
      list.map(({ field, rule, message, offset }) => ({
        file,
        line:
          // Only Markdown has a line before its YAML; its prose is the text below, even if a field has that name.
          field === 'prose' && (firstLine === 2 ? rule !== 'unknown_field' : !document.has('prose'))
            ? bodyLine + countLines(body.trimStart().slice(0, offset ?? 0))
            : lineAt(rule === 'unknown_field' ? offsetOfName(document, field) : offsetOf(document, field)),
        field,
        rule,
        message,
      })),
  };
}

function yamlMessage({ code, message }: YAMLParseError): string {
  if (code === 'DUPLICATE_KEY') return 'this field appears twice; keep one of the two';
  if (code === 'TAB_AS_INDENT') return 'a tab indents this line; YAML takes spaces alone, so put spaces there';
  return `${message.split('\n')[0]}; correct the YAML (quote a text that holds a colon or a quote)`;
}

/** The start of a field's name, or of its value if the name cannot be found. */
function offsetOfName(document: Document, field: string): number {
  const path = pathOf(field);
  const name = String(path.pop());
  const parent = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === name) : undefined;
  return isScalar(pair?.key) ? (pair.key.range?.[0] ?? 0) : offsetOf(document, field);
}

/** The keys that lead to a field: `cited_facts[1].source`. */
function pathOf(field: string): (string | number)[] {
  const parts = field.split(/[.[\]]+/).filter((part) => part !== '');
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** The start of a field's value; for a missing field, the start of its nearest parent. */
function offsetOf(document: Document, field: string): number {
  for (const path = pathOf(field); path.length > 0; path.pop()) {
    const node = document.getIn(path, true) as { range?: [number, number, number] } | undefined;
    if (node?.range) return node.range[0];
  }
  return 0;
}

export function unreadable(file: string, line: number, rule: string, message: string): SourceFile {
  return {
    file,
    digest: '',
    data: null,
    faulty: null,
    body: '',
    problems: [{ file, line, field: 'file', rule, message }],
    locate: () => [],
  };
}

/** Whether a file begins with the byte order mark of UTF-16, as some editors save it. */
function isUtf16(bytes: Buffer): boolean {
  return ['fffe', 'feff'].includes(bytes.toString('hex', 0, 2));
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

/** The first line of a file that is not UTF-8. */
function firstBadLine(bytes: Buffer): number {
  for (let line = 1, start = 0; ; line++) {
    const end = bytes.indexOf('\n', start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
