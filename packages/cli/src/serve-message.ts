import type { RunFile } from '@gatehouse/contract'
import { escapeText } from './escape-text.ts'
import type { NextStep } from './next-step.ts'

type Started = {
  readonly run: RunFile
  readonly dataDir: string
  /** Addresses for other machines; the lists are empty where nothing listens beyond this one. */
  readonly network: { readonly gateway: readonly string[]; readonly dashboard: readonly string[] }
  readonly firstAgentToken: string | null
  readonly unconnectedAgent: string | null
  readonly setupLink: string | null
  readonly next: NextStep
}

const setupLines = (link: string, { run, next }: Started): readonly string[] => [
  '',
  'The dashboard has no operator yet. This link creates the first operator, once, within 30 minutes:',
  '',
  `  ${link}`,
  // A proxy in front has a certificate of its own.
  ...(run.public_url === undefined
    ? ['', `Your browser warns of the certificate until it is trusted: ${next('trust')}`]
    : []),
]

/** How to connect a client, by a command or by hand: with the token or with a word in its place. */
const connectLines = (run: RunFile, token: string, next: NextStep): readonly string[] => {
  const http = run.mcp_url.replace(/^ws/, 'http')
  const server = { type: 'http', url: http, headers: { Authorization: `Bearer ${token}` } }
  return [
    '',
    `A coding agent, with an agent of its own: ${next('connect claude-code')}`,
    '(or claude-desktop, cursor, vscode, codex, gemini, copilot, zed, windsurf)',
    '',
    'A first call:',
    '',
    `  curl ${run.gateway_url}/rpc -H 'Content-Type: application/json' \\`,
    `    -H 'Authorization: Bearer ${token}' \\`,
    `    -d '{"jsonrpc":"2.0","id":1,"method":"capabilities.list"}'`,
    '',
    'Claude Code, by hand:',
    '',
    `  claude mcp add --transport http gatehouse ${http} --header "Authorization: Bearer ${token}"`,
    '',
    'Cursor, by hand (.cursor/mcp.json):',
    '',
    `  ${JSON.stringify({ mcpServers: { gatehouse: { url: http, headers: server.headers } } })}`,
    '',
    'VS Code, by hand (.vscode/mcp.json):',
    '',
    `  ${JSON.stringify({ servers: { gatehouse: server } })}`,
  ]
}

const agentLines = ({
  run,
  firstAgentToken: token,
  unconnectedAgent,
  next,
}: Started): readonly string[] => {
  if (token !== null)
    return [
      '',
      'An agent called first-agent is ready. Its token, shown once:',
      '',
      `  ${token}`,
      '',
      `A new one, if it gets lost: ${next('agent rotate first-agent')}`,
      ...connectLines(run, token, next),
    ]
  if (unconnectedAgent === null) return []
  return [
    '',
    `No agent has connected yet. A new token for ${unconnectedAgent}, in place of TOKEN below: ${next(`agent rotate ${unconnectedAgent}`)}`,
    ...connectLines(run, 'TOKEN', next),
  ]
}

/** Addresses that lead here from other machines, and what an open gateway means. */
const networkLines = ({ run, network }: Started): readonly string[] => {
  const { public_url: publicUrl } = run
  const lines = [
    ...network.gateway.map((url) => `  Gateway           ${url}`),
    ...network.dashboard.map((url) => `  Dashboard         ${url}`),
    ...(publicUrl === undefined
      ? []
      : [
          `  Agents, MCP       ${publicUrl}/mcp`,
          `  Agents, JSON-RPC  ${publicUrl}/rpc`,
          `  Dashboard         ${publicUrl}`,
        ]),
  ]
  const warning = [
    '',
    'Warning: other machines reach the gateway without TLS, so tokens and data of agents cross the network',
    'in the clear. Put a proxy with TLS in front of it, and leave out --host.',
  ]
  return [
    ...(lines.length === 0 ? [] : ['', 'From other machines:', '', ...lines]),
    ...(network.gateway.length === 0 ? [] : warning),
  ]
}

/** Message once everything listens; until an agent has connected also how to connect one. */
export function serveMessage(started: Started): string {
  const { run, dataDir, setupLink, next } = started
  return [
    `Gatehouse ${run.version} is running (process ${run.pid}).`,
    '',
    `  Agents, MCP       ${run.mcp_url}`,
    `  Agents, JSON-RPC  ${run.gateway_url}/rpc`,
    `  Dashboard         ${run.dashboard_url}`,
    `  User API          ${run.user_api_url}/api`,
    `  Data              ${escapeText(dataDir)}`,
    ...networkLines(started),
    '',
    `In another terminal: ${next('approvals watch')}`,
    ...(setupLink === null ? [] : setupLines(setupLink, started)),
    ...agentLines(started),
  ].join('\n')
}
