import type { View } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { foldersOf, hostsOf } from '../grants/server-grants.ts'
import { renderTable } from '../table.ts'
import type { Candidate } from './candidates.ts'
import type { UnreadConfig } from './find-servers.ts'
import type { Choice, Left } from './plan-import.ts'

/** Listed facts of a server that was found: names of its secrets, and never a value. */
export type Listed = {
  readonly client: string
  readonly scope: string
  /** The folder that it is for, where it is for one. */
  readonly folder: string | null
  readonly file: string
  readonly server: string
  /** Command line or address; null where that can't be told. */
  readonly starts: string | null
  readonly secrets: readonly string[]
  /** Names of its other variables, which are shown with the server. */
  readonly variables: readonly string[]
  readonly folders: readonly string[]
  readonly hosts: readonly string[]
  readonly problem: string | null
}

const startOf = ({ definition: { server } }: Candidate): string =>
  server.kind === 'http' ? server.url : [server.command, ...server.args].join(' ')

const plainOf = ({ definition, secrets }: Candidate): readonly string[] =>
  Object.keys(definition.values).filter((name) => !secrets.includes(name))

export function listedOf({ found, candidates }: Choice): readonly Listed[] {
  return found.servers.map((server) => {
    const { config, name, problem } = server
    const { client, scope, file } = config
    const folder = scope === 'user' ? null : config.folder
    const candidate = candidates.find(({ from }) => (from as readonly unknown[]).includes(server))
    return {
      ...{ client: client.id, scope, folder, file, server: name, problem },
      starts: candidate ? startOf(candidate) : null,
      secrets: candidate?.secrets ?? [],
      variables: candidate ? plainOf(candidate) : [],
      folders: candidate ? foldersOf(candidate.definition) : [],
      hosts: candidate ? hostsOf(candidate.definition) : [],
    }
  })
}

const detailLines = (listed: Listed): string[] => {
  const { client, scope, folder, secrets, variables, folders, hosts, problem } = listed
  const server = `${listed.server} of ${client}`
  const ofVault = secrets.length === 1 ? 'goes into the vault' : 'go into the vault'
  const asIs = variables.length === 1 ? 'stays a plain variable' : 'stay plain variables'
  return [
    ...(scope === 'local' ? [`${server}: for ${folder} alone`] : []),
    ...(problem === null ? [] : [`${server} stays where it is: ${problem}.`]),
    ...(secrets.length === 0 ? [] : [`${server}: ${secrets.join(', ')} ${ofVault}`]),
    ...(variables.length === 0 ? [] : [`${server}: ${variables.join(', ')} ${asIs}`]),
    ...(folders.length === 0
      ? []
      : [
          `${server}: names the ${folders.length === 1 ? 'folder' : 'folders'} ${folders.join(', ')}`,
        ]),
    ...(hosts.length === 0 ? [] : [`${server}: needs ${hosts.join(', ')} to start`]),
  ]
}

export const unreadLines = (unread: readonly UnreadConfig[]): string[] =>
  unread.map(({ client, problem }) => escapeText(`${client} was left out: ${problem}`))

type Shown = { readonly found: readonly Listed[]; readonly unread: readonly UnreadConfig[] }

export function foundText({ found: listed, unread: closed }: Shown, view: View): string {
  const unread = unreadLines(closed)
  if (listed.length === 0)
    return ['No client here has an MCP server to import.', ...unread].join('\n')
  const table = renderTable(
    [
      { title: 'CLIENT', value: ({ client }) => client },
      { title: 'SERVER', value: ({ server }) => server },
      { title: 'SCOPE', value: ({ scope }) => scope, drop: true },
      { title: 'STARTS', value: ({ starts }) => starts ?? '-', cut: true },
    ],
    listed,
    view,
  )
  const details = new Set(listed.flatMap(detailLines))
  return [
    table,
    ...(details.size > 0 ? [''] : []),
    ...[...details].map(escapeText),
    ...unread,
  ].join('\n')
}

export const leftText = (left: readonly Left[]): string[] =>
  left.map(({ server, client, reason }) =>
    escapeText(`${server} of ${client} was left as it was: ${reason}`),
  )
