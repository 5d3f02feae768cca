import type { RunFile } from '@gatehouse/contract'
import { dashboardPage } from '@gatehouse/contract/setup-url'
import { escapeText } from './escape-text.ts'

type Started = {
  readonly run: RunFile
  readonly dataDir: string
  readonly firstAgentToken: string | null
  readonly setupLink: string | null
}

const setupLines = (link: string): readonly string[] => [
  '',
  'Nobody can log in to the dashboard yet. This link makes the first operator, once, within 30 minutes:',
  '',
  `  ${link}`,
  '',
  'Your browser warns of the certificate until it is trusted: gatehouse trust',
]

/** What a person reads once everything listens; at the first start also how to connect an agent. */
export function serveMessage({ run, dataDir, firstAgentToken: token, setupLink }: Started): string {
  const lines = [
    `Gatehouse ${run.version} is running (process ${run.pid}).`,
    '',
    `  Agents, MCP       ${run.mcp_url}`,
    `  Agents, JSON-RPC  ${run.gateway_url}/rpc`,
    `  Dashboard         ${dashboardPage(run.dashboard_url)}`,
    `  User API          ${run.user_api_url}/api`,
    `  Data              ${escapeText(dataDir)}`,
    '',
    'In another terminal: gatehouse approvals watch',
    ...(setupLink === null ? [] : setupLines(setupLink)),
  ]
  if (token === null) return lines.join('\n')
  const websocket = run.mcp_url
  const http = websocket.replace(/^ws/, 'http')
  const server = { type: 'http', url: http, headers: { Authorization: `Bearer ${token}` } }
  return [
    ...lines,
    '',
    'An agent called first-agent is ready. Its token, shown once:',
    '',
    `  ${token}`,
    '',
    'A first call:',
    '',
    `  curl ${run.gateway_url}/rpc -H 'Content-Type: application/json' \\`,
    `    -H 'Authorization: Bearer ${token}' \\`,
    `    -d '{"jsonrpc":"2.0","id":1,"method":"capabilities.list"}'`,
    '',
    'Claude Code:',
    '',
    `  claude mcp add --transport http gatehouse ${http} --header "Authorization: Bearer ${token}"`,
    '',
    'Cursor (.cursor/mcp.json):',
    '',
    `  ${JSON.stringify({ mcpServers: { gatehouse: { url: http, headers: server.headers } } })}`,
    '',
    'VS Code (.vscode/mcp.json):',
    '',
    `  ${JSON.stringify({ servers: { gatehouse: server } })}`,
  ].join('\n')
}
