import type { Attempt } from './attempt.ts'
import type { Ready } from './load-agent.ts'
import { raw, request } from './raw-request.ts'

type Headers = Readonly<Record<string, string>>

const frame = (method: string, params: object, id = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

const initialize = frame('initialize', {
  protocolVersion: '2025-06-18',
  clientInfo: { name: 'selftest', version: '1' },
  capabilities: {},
})
const list = frame('tools/list', {})

/** A message to Streamable HTTP; other headers take the place of the usual ones. */
const post = ({ run }: Pick<Ready, 'run'>, headers: Headers, body: string) =>
  raw(
    run,
    request(
      { Accept: 'application/json, text/event-stream', Connection: 'close', ...headers },
      body,
      '/mcp',
    ),
  )

/** A request to become a WebSocket. */
const upgrade = ({ run }: Pick<Ready, 'run'>, headers: Headers, path = '/mcp') => {
  const lines = Object.entries({
    Host: '127.0.0.1',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return raw(run, `GET ${path} HTTP/1.1\r\n${head}\r\n`)
}

const sessionIn = (head: string): string | null =>
  /^mcp-session-id: (\S+)/im.exec(head)?.[1] ?? null

const expecting =
  (wanted: readonly number[], ask: () => Promise<{ status: number; head: string }>) =>
  async (): Promise<string | null> => {
    const { status, head } = await ask()
    if (/^access-control-/im.test(head)) return 'it has Access-Control headers'
    return wanted.includes(status) ? null : `answered ${status}`
  }

/** Cases of both transports of MCP. `other` is the token of another agent. */
export const mcpAttempts = (ready: Ready, other: string): Attempt[] => {
  const own = { Authorization: `Bearer ${ready.token}` }
  const wrong = { Authorization: `Bearer ${'0'.repeat(64)}` }
  const evil = 'https://evil.example'
  const attempt = (
    name: string,
    wanted: readonly number[],
    ask: () => Promise<{ status: number; head: string }>,
  ): Attempt => ({ name, run: expecting(wanted, ask) })
  return [
    attempt('W01 an upgrade without a token', [401], () => upgrade(ready, {})),
    attempt('W01 an upgrade with a wrong token', [401], () => upgrade(ready, wrong)),
    attempt('W02 an upgrade from a foreign origin', [403], () =>
      upgrade(ready, { ...own, Origin: evil }),
    ),
    attempt('W02 the same, with the token in the address', [403], () =>
      upgrade(ready, { Origin: evil }, `/mcp?token=${ready.token}`),
    ),
    attempt('W03 two tokens', [400], () => upgrade(ready, own, `/mcp?token=${other}`)),
    attempt('H02 an upgrade under a foreign name', [421], () =>
      upgrade(ready, { ...own, Host: 'evil.example' }),
    ),
    attempt('H13 an upgrade of another version', [400, 426], () =>
      upgrade(ready, { ...own, 'Sec-WebSocket-Version': '7' }),
    ),
    attempt('Streamable HTTP without a token', [401], () => post(ready, {}, list)),
    attempt('Streamable HTTP with a wrong token', [401], () => post(ready, wrong, list)),
    attempt('Streamable HTTP from a foreign origin', [403], () =>
      post(ready, { ...own, Origin: evil }, list),
    ),
    attempt('Streamable HTTP under a foreign name', [421], () =>
      post(ready, { ...own, Host: 'evil.example' }, list),
    ),
    attempt('W12 the session of another agent', [404], async () => {
      const { head } = await post(ready, own, initialize)
      const session = sessionIn(head)
      if (session === null) return { status: 0, head }
      return post(ready, { Authorization: `Bearer ${other}`, 'Mcp-Session-Id': session }, list)
    }),
    attempt('W12 a session without a token', [401], async () => {
      const { head } = await post(ready, own, initialize)
      return post(ready, { 'Mcp-Session-Id': sessionIn(head) ?? '' }, list)
    }),
    {
      name: 'T06 a role that the client claims in initialize',
      async run() {
        const claim = initialize.replace('"capabilities":{}', '"capabilities":{},"role":"operator"')
        const { head } = await post(ready, own, claim)
        const session = { ...own, 'Mcp-Session-Id': sessionIn(head) ?? '' }
        const blocked = frame('tools/call', {
          name: 'filesystem__move',
          arguments: { from: 'a', to: 'b' },
        })
        const { body } = await post(ready, session, blocked)
        return body.includes('-32001') ? null : `a blocked tool answered ${body.slice(0, 100)}`
      },
    },
  ]
}

/** Faults of the honest use of both transports. */
export const honestMcp = async (ready: Ready): Promise<string[]> => {
  const wrong: string[] = []
  const own = { Authorization: `Bearer ${ready.token}` }
  const { status } = await upgrade(ready, own)
  if (status !== 101) wrong.push(`an upgrade answered ${status}`)
  const { head } = await post(ready, own, initialize)
  const session = { ...own, 'Mcp-Session-Id': sessionIn(head) ?? '' }
  const { body } = await post(
    ready,
    session,
    frame('tools/call', { name: 'system__time', arguments: {} }),
  )
  if (!body.includes('"content"')) wrong.push(`a call over MCP answered ${body.slice(0, 100)}`)
  return wrong
}
