import { homedir } from 'node:os'
import type { AddUpstream, UpstreamReview } from '@gatehouse/contract'
import { ownSecretsOf, pairOf } from '../agent-secrets.ts'
import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { type Context, defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { askFolders, askHosts, canAsk } from '../grants/ask-grants.ts'
import { foldersOf, hostsOf, isWithin } from '../grants/server-grants.ts'
import { readSecretLines } from '../read-secret.ts'
import {
  grantLines,
  isWaiting,
  refusedHostsText,
  remarksText,
  toolTable,
} from '../upstream-text.ts'

type Options = {
  readonly name: string
  readonly command: readonly string[]
  readonly url?: string | undefined
  readonly folder?: readonly string[] | undefined
  readonly host?: readonly string[] | undefined
  readonly env?: readonly string[] | undefined
  readonly secret?: readonly string[] | undefined
  readonly credential?: readonly string[] | undefined
  readonly 'agent-secret'?: readonly string[] | undefined
  readonly 'own-only': boolean
  readonly shared: boolean
}

const serverOf = ({ command, url }: Options): AddUpstream['server'] => {
  const [program, ...args] = command
  if (url !== undefined && program !== undefined)
    throw usageError('Give a command or --url, not both.')
  if (url !== undefined) return { kind: 'http', url }
  if (program === undefined)
    throw usageError('Say what to start, behind --, or where it is: --url URL.')
  return { kind: 'stdio', command: program, args }
}

const orderOf = (given: Options, values: readonly string[]): AddUpstream => ({
  name: given.name,
  server: serverOf(given),
  grants: {
    folders: (given.folder ?? []).map((path) => ({
      path: path.replace(/:r[ow]$/, ''),
      read_only: !path.endsWith(':rw'),
    })),
    hosts: [...(given.host ?? [])],
    environment: Object.fromEntries((given.env ?? []).map((text) => pairOf('env', text))),
  },
  credentials: Object.fromEntries([
    ...(given.secret ?? []).map((text) => {
      const [key, secret] = pairOf('secret', text)
      return [key, { secret }] as const
    }),
    ...(given.credential ?? []).map((key, i) => [key, { value: values[i] ?? '' }] as const),
  ]),
  ...(given['agent-secret'] ? { agent_credentials: ownSecretsOf(given['agent-secret']) } : {}),
  ...(given['own-only'] ? { own_only: true } : {}),
  per_agent: !given.shared,
  dry_run: false,
})

/** Places that its command line names and nobody granted: asked for one by one at a terminal, elsewhere told. */
async function withAsked(context: Context, order: AddUpstream): Promise<AddUpstream> {
  const { name, server, grants } = order
  if (server.kind === 'http') return order
  const definition = { server, values: grants.environment }
  const folders = foldersOf(definition).filter(
    (path) => !grants.folders.some((one) => isWithin(path, one.path)),
  )
  const hosts = hostsOf(definition).filter((host) => !grants.hosts.includes(host))
  if (context.yes || !canAsk(context)) {
    for (const [all, verb, option] of [
      [folders, 'see', '--folder'],
      [hosts, 'reach', '--host'],
    ] as const)
      for (const one of all)
        await context.note(
          `It needs ${escapeText(one)}, which it may not ${verb}: grant it with ${option}.`,
        )
    return order
  }
  const home = context.io.env.HOME ?? homedir()
  const around = { home, dataDirs: context.places.dirs }
  return {
    ...order,
    grants: {
      ...grants,
      folders: [...grants.folders, ...(await askFolders(context, name, folders, around))],
      hosts: [...grants.hosts, ...(await askHosts(context, name, hosts))],
    },
  }
}

/** Looks at the server, and once more with each host that it tried to reach and that a person lets it reach. */
async function review(context: Context, order: AddUpstream): Promise<Found> {
  const found = await context.api.addUpstream({ ...order, dry_run: true })
  const { hosts_refused: refused } = found
  if (context.yes || !canAsk(context) || refused.length === 0) return { order, review: found }
  const hosts = await askHosts(context, order.name, refused)
  if (hosts.length === 0) return { order, review: found }
  const { grants } = order
  return review(context, { ...order, grants: { ...grants, hosts: [...grants.hosts, ...hosts] } })
}

type Found = {
  readonly order: AddUpstream
  readonly review: UpstreamReview
}

export const upstreamAdd = defineCommand({
  name: 'upstream add',
  summary: 'Add an MCP server, after showing its tools',
  args: {
    name: 'its name, and the first part of the names of its tools',
    command: {
      about: 'after --, the program and its arguments, for a server on this machine',
      many: true,
      optional: true,
    },
  },
  options: {
    url: { value: 'URL', about: 'the address of a server over HTTP' },
    folder: { value: 'PATHS', many: true, about: 'folders it may read; PATH:rw to write' },
    host: { value: 'HOSTS', many: true, about: 'HOST:PORT that it may connect to' },
    env: { value: 'NAME=VALUE', many: true, about: 'a variable that is no secret' },
    secret: {
      value: 'NAME=SECRET',
      many: true,
      about: 'a variable or a header with the value of a secret in the vault',
    },
    credential: {
      value: 'NAMES',
      many: true,
      about:
        'variables or headers whose values are read from the input, a line each, and kept in the vault',
    },
    'agent-secret': {
      value: 'AGENT=SECRET',
      many: true,
      about:
        'a secret in the vault that is the header authorization of one agent alone; AGENT:NAME=SECRET for another header or a variable',
    },
    'own-only': { about: 'refuse agents without a secret or a login of their own' },
    shared: { about: 'one process for all agents instead of one for each' },
    'dry-run': { about: 'show its tools and add nothing' },
  },
  examples: [
    'gatehouse upstream add files --folder /srv/docs -- npx -y @modelcontextprotocol/server-filesystem /srv/docs',
    'gatehouse upstream add github --credential GITHUB_TOKEN --host api.github.com:443 -- /usr/local/bin/github-mcp-server stdio < token.txt',
    'gatehouse upstream add tickets --url https://mcp.example.org/mcp --credential authorization < header.txt',
    'gatehouse upstream add tickets --url https://mcp.example.org/mcp --agent-secret coder=tickets_coder',
  ],
  async look(context, given): Promise<Found> {
    const { io, json, note, views } = context
    const values = given.credential ? await readSecretLines(io, given.credential) : []
    const found = await review(context, await withAsked(context, orderOf(given, values)))
    const { tools, upstream } = found.review
    if (!json && upstream.status !== 'needs_login')
      await note(
        [
          toolTable(tools, views.stderr),
          ...remarksText(tools),
          ...refusedHostsText(found.review),
          '',
          ...grantLines(upstream).map(escapeText),
        ].join('\n'),
      )
    return found
  },
  question: ({ name, 'dry-run': dryRun }, { review }) =>
    dryRun || review.upstream.status === 'needs_login'
      ? null
      : `Offer ${counted(review.tools.filter(isWaiting).length, 'tool')} of ${name} to agents? Each call asks a person, unless policy says otherwise.`,
  async run({ api }, { name, 'dry-run': dryRun }, { order, review }) {
    if (dryRun) return { added: false, ...review }
    const added = await api.addUpstream(order)
    if (!added.tools.some(isWaiting)) return { added: true, ...added }
    // The review that was shown, and nothing that came since.
    return { added: true, ...(await api.acceptUpstream({ name, digest: review.digest })) }
  },
  text: ({ added, upstream }, { next }) => {
    const { name, status } = upstream
    if (status === 'needs_login')
      return added
        ? `${name} is kept, and wants a login before it shows its tools: ${next(`upstream login ${name}`)}`
        : `${name} wants a login before it shows its tools. Nothing was kept.`
    return added
      ? [
          `${name} is behind the gate: ${counted(upstream.offered, 'tool')} offered.`,
          `Rules for it, to read and change: ${next(`upstream tiers ${name} --suggest`)}`,
        ].join('\n')
      : 'Nothing was kept.'
  },
})
