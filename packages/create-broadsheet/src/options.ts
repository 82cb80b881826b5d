import { parseArgs } from 'node:util';
import { Refusal } from './refusal.ts';
import { isTarget, TARGETS, type Target } from './targets.ts';

/** The options as typed. Members that are undefined were not given. */
export interface Options {
  folder: string | undefined;
  name: string | undefined;
  language: string | undefined;
  url: string | undefined;
  sections: string[] | undefined;
  persona: string | undefined;
  publish: Target | undefined;
  /** A tarball of Broadsheet to install; the registry's without it. */
  tarball: string | undefined;
  yes: boolean;
  help: boolean;
}

export const HELP = `npm create broadsheet FOLDER -- [OPTIONS]

Makes a folder with a paper, a package.json that pins Broadsheet, and a workflow that publishes it.

  --name TEXT        the paper's name, as in "The Quay"
  --language TAG     its language, as in en or pt-BR
  --url ADDRESS      its public address, as in https://quay.example
  --section NAME     a section; repeat it for several
  --persona PERSONA  who writes, as in "Ada Holm, Editor"
  --publish TARGET   where the workflow publishes: ${Object.keys(TARGETS).join(', ')}
  --package FILE     install this tarball of Broadsheet, not the registry's
  --yes              do not ask; use defaults for omitted options
  --help             print this
`;

/** Throws a Refusal for an unknown option or an unknown target. */
export function readOptions(args: string[]): Options {
  const { values, positionals } = parsed(args);
  if (positionals.length > 1) {
    throw new Refusal(`there is one folder to make, not ${positionals.length}: ${positionals.join(' ')}`);
  }
  const { publish } = values;
  if (publish !== undefined && !isTarget(publish)) {
    const known = Object.keys(TARGETS).join(', ');
    throw new Refusal(`--publish ${JSON.stringify(publish)} is unknown; use one of ${known}`);
  }
  return {
    folder: positionals[0],
    name: values.name,
    language: values.language,
    url: values.url,
    sections: values.section,
    persona: values.persona,
    publish,
    tarball: values.package,
    yes: values.yes === true,
    help: values.help === true,
  };
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        name: { type: 'string' },
        language: { type: 'string' },
        url: { type: 'string' },
        section: { type: 'string', multiple: true },
        persona: { type: 'string' },
        publish: { type: 'string' },
        package: { type: 'string' },
        yes: { type: 'boolean', short: 'y' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new Refusal(`${(error as Error).message.split('. ')[0]}; --help lists the options`);
  }
}

/** The same options for `broadsheet new`. */
export function newArguments({ name, language, url, sections = [], persona }: Options): string[] {
  const given = { '--name': name, '--language': language, '--url': url, '--persona': persona };
  return [
    ...Object.entries(given).flatMap(([option, value]) => (value === undefined ? [] : [option, value])),
    ...sections.flatMap((section) => ['--section', section]),
  ];
}

/** The options that were left out, as they are typed. */
export function omitted({ name, language, sections, persona, publish }: Options): string[] {
  const all = { '--name': name, '--language': language, '--section': sections, '--persona': persona };
  return Object.entries({ ...all, '--publish': publish })
    .filter(([, value]) => value === undefined)
    .map(([option]) => option);
}
