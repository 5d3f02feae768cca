import type { RunFile } from '@gatehouse/contract'
import { escapeText } from './escape-text.ts'
import type { NextStep } from './next-step.ts'

type Started = {
  readonly run: RunFile
  readonly dataDir: string
  readonly firstAgentToken: string | null
  readonly unconnectedAgent: string | null
  readonly setupLink: string | null
  readonly next: NextStep
}

const setupLines = (link: string, next: NextStep): readonly string[] => [
  '',
  'The dashboard has no operator yet. This link creates the first operator, once, within 30 minutes:',
  '',
  `  ${link}`,
  '',
  `Your browser warns of the certificate until it is trusted: ${next('trust')}`,
]

/** How to connect a client, by a command or by hand: with the token or with a word in its place. */
const connectLines = (run: RunFile, token: string, next: NextStep): readonly string[] => {
  const http = run.mcp_url.replace(/^ws/, 'http')
  const server = { type: 'http', url: http, headers: { Authorization: `Bearer ${token}` } }
  return [
    '',
    `A coding agent, with an agent of its own: ${next('connect claude-code')}`,
    '(or claude-desktop, cursor, vscode, codex, gemini, zed, windsurf)',
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
    '',
    `In another terminal: ${next('approvals watch')}`,
    ...(setupLink === null ? [] : setupLines(setupLink, next)),
    ...agentLines(started),
  ].join('\n')
}
