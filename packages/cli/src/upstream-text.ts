import type { Upstream, UpstreamReview, UpstreamTool } from '@gatehouse/contract'
import type { View } from './define.ts'
import { escapeText } from './escape-text.ts'
import { renderTable } from './table.ts'

const firstLine = (text: string): string => text.split('\n')[0] ?? ''

/** Where a server is: its command line, or its address. */
export const serverText = ({ server }: Upstream): string =>
  server.kind === 'http' ? server.url : [server.command, ...server.args].join(' ')

const waiting: ReadonlySet<string> = new Set(['new', 'changed', 'vanished'])

export const isWaiting = ({ state }: UpstreamTool): boolean => waiting.has(state)

export const toolTable = (tools: readonly UpstreamTool[], view: View): string =>
  renderTable(
    [
      { title: 'CAPABILITY', value: ({ capability, tool }) => capability ?? tool },
      { title: 'STATE', value: ({ state }) => state },
      { title: 'SUGGESTED', value: ({ suggested_tier }) => suggested_tier, drop: true },
      { title: 'DESCRIPTION', value: ({ description }) => firstLine(description), cut: true },
    ],
    tools,
    view,
  )

/** Marks that a person should look at before a model reads it. */
const markLines = ({ tool, marks, problem, renamed_from }: UpstreamTool): string[] => [
  ...(problem === null ? [] : [`${tool}: ${problem}.`]),
  ...(renamed_from === null ? [] : [`${tool}: it stands where ${renamed_from} stood.`]),
  ...marks.map(({ kind, detail }) => `${tool}: ${kind.replaceAll('_', ' ')}: ${detail}`),
]

export const remarksText = (tools: readonly UpstreamTool[]): string[] => {
  const lines = tools.flatMap(markLines)
  return lines.length === 0
    ? []
    : ['', 'Look at these first:', ...lines.map((line) => `  ${escapeText(line)}`)]
}

export const refusedHostsText = ({ upstream, hosts_refused }: UpstreamReview): string[] =>
  hosts_refused.length === 0
    ? []
    : [
        '',
        `${upstream.name} tried to reach ${hosts_refused.map(escapeText).join(', ')}, which it may not. Grant a host with --host.`,
      ]

const certificateText = ({
  organisation,
  authority,
  authority_key,
}: NonNullable<Upstream['certificate']>): string =>
  `${organisation === null ? '' : `of ${organisation}, `}under ${authority} (key ${authority_key.slice(0, 16)})`

/** The certificate, and the accepted one where that is another. */
const certificateLines = ({ certificate, accepted_certificate }: Upstream): string[] => {
  if (certificate === null) return []
  const found = certificateText(certificate)
  const accepted = accepted_certificate && certificateText(accepted_certificate)
  return accepted === null || accepted === found
    ? [`Certificate: ${found}`]
    : [`Certificate: ${found}, which is not the accepted one`, `  accepted: ${accepted}`]
}

const loginText = ({ issuer, client_id, scopes, at }: NonNullable<Upstream['login']>): string =>
  `at ${issuer} as ${client_id}, since ${at}${scopes.length > 0 ? `, for ${scopes.join(' ')}` : ''}`

const loginLines = ({ login, agent_logins }: Upstream): string[] => [
  ...(login === null ? [] : [`Login: ${loginText(login)}`]),
  ...Object.entries(agent_logins).map(([agent, own]) => `Login of ${agent}: ${loginText(own)}`),
]

/** Agents that are let in with something of their own, and what becomes of all others. */
const ownLines = ({ agent_credentials, agent_logins, own_only }: Upstream): string[] => [
  ...Object.entries(agent_credentials).map(([agent, own]) => {
    const names = Object.entries(own).map(([key, { secret }]) => `${key} from ${secret}`)
    return `Credentials of ${agent}: ${names.join(', ')}`
  }),
  ...(own_only
    ? ['Agents without their own: refused']
    : Object.keys(agent_credentials).length + Object.keys(agent_logins).length > 0
      ? ['Agents without their own: let in with what they share']
      : []),
]

export const grantLines = ({ server, grants, credentials, per_agent }: Upstream): string[] => {
  const keys = Object.keys(credentials)
  if (server.kind === 'http') return keys.length > 0 ? [`Credentials: ${keys.join(', ')}`] : []
  return [
    `Folders: ${grants.folders.map(({ path, read_only }) => `${path} (${read_only ? 'read only' : 'may write'})`).join(', ') || 'none but its own'}`,
    `Hosts: ${grants.hosts.join(', ') || 'none'}`,
    `Environment: ${[...Object.keys(grants.environment), ...keys].join(', ') || 'nothing'}`,
    `Processes: ${per_agent ? 'one for each agent' : 'one for all agents'}`,
  ]
}

export const upstreamText = (upstream: Upstream): string => {
  const { name, status, reason, identity } = upstream
  const said = identity
    ? `${identity.name} ${identity.version}, MCP ${identity.protocol}`
    : 'not known yet'
  return [
    `${name} is ${status.replaceAll('_', ' ')}${reason === null ? '' : `: ${reason}`}`,
    `Server: ${serverText(upstream)}`,
    `Calls itself: ${said}`,
    ...certificateLines(upstream),
    ...loginLines(upstream),
    ...grantLines(upstream),
    ...ownLines(upstream),
    `Tools: ${upstream.offered} offered, ${upstream.waiting} waiting, ${upstream.declined} declined, ${upstream.refused} refused`,
  ]
    .map(escapeText)
    .join('\n')
}

/** Lines of the definition that was accepted and of the one found that are in one of them alone. */
export const differenceLines = ({ tool, state, accepted, found }: UpstreamTool): string[] => {
  const [before, after] = [accepted ?? '', found ?? ''].map((text) =>
    text.split('\n').filter(Boolean),
  )
  const gone = (before ?? []).filter((line) => !(after ?? []).includes(line))
  const come = (after ?? []).filter((line) => !(before ?? []).includes(line))
  return [
    '',
    `${tool} is ${state === 'vanished' ? 'not there any more' : 'another than the one that was accepted'}:`,
    ...gone.map((line) => `- ${line}`),
    ...come.map((line) => `+ ${line}`),
  ].map(escapeText)
}

/** A review as a person reads it: the server, its tools, what changed, and what to look at. */
export const reviewText = (review: UpstreamReview, view: View): string => {
  const { upstream, tools } = review
  return [
    upstreamText(upstream),
    '',
    toolTable(tools, view),
    ...remarksText(tools.filter(({ state }) => state !== 'offered')),
    ...tools
      .filter(({ state }) => state === 'changed' || state === 'vanished')
      .flatMap(differenceLines),
    ...refusedHostsText(review),
    ...(upstream.waiting > 0
      ? [
          '',
          `Accept what waits: ${view.next(`upstream accept ${upstream.name}`)}`,
          `Or leave it out:   ${view.next(`upstream decline ${upstream.name}`)}`,
        ]
      : []),
  ].join('\n')
}
