import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Attempt, attempt, strays, tally, withinMs } from './attempt.ts'
import type { Installation } from './installation.ts'
import type { Ready } from './load-agent.ts'
import { call, raw, request } from './raw-request.ts'
import { bySize, type SectionContext } from './section.ts'

const time = call('system.time', {})

const head = ({ token }: Ready, lines: string): string =>
  `POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}\r\n${lines}\r\n`

/** Bodies that lie about their length, with a second request in them that must never run. */
const lengths = (ready: Ready): Attempt[] => {
  const smuggled = `${head(ready, '')}${call('filesystem.write', { path: 'smuggled.txt', content: 'x' })}`
  const lies: Readonly<Record<string, string>> = {
    'two kinds of length': 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n',
    'two lengths': 'Content-Length: 4\r\nContent-Length: 5\r\n',
    'an unknown encoding': 'Transfer-Encoding: xchunked\r\n',
    'a length that is no number': 'Content-Length: +4\r\n',
  }
  const chunked = 'Transfer-Encoding: chunked\r\n'
  const bodies: readonly (readonly [name: string, lines: string, body: string])[] = [
    ...Object.entries(lies).map(([name, lines]) => [name, lines, '0\r\n\r\n'] as const),
    ['chunks that end with a line feed alone', chunked, '2\n{}\n0\n\n'],
    ['a chunk of a length that is none', chunked, '-1\r\n{}\r\n0\r\n\r\n'],
  ]
  return bodies.map(([name, lines, body]) =>
    attempt(`H07 ${name}`, async () => {
      const { status } = await raw(ready.run, `${head(ready, lines)}${body}${smuggled}`)
      if (existsSync(join(ready.workspace, 'smuggled.txt'))) return 'the request inside was run'
      return [400, 501].includes(status) ? null : `answered ${status}`
    }),
  )
}

/** Sockets that are never done with their headers; the service has to end each by itself. */
const dawdle = (
  port: number,
  count: number,
  hold: (socket: Socket) => (() => void) | undefined,
): Promise<(true | null)[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ port, host: '127.0.0.1' })
      const closed = new Promise<true>((resolve) => {
        socket.on('error', () => undefined)
        socket.once('close', () => resolve(true))
      })
      // An answer before the end is read, and nothing is made of it.
      socket.resume()
      const stop = hold(socket)
      const ended = await withinMs(closed)
      stop?.()
      socket.destroy()
      return ended
    }),
  )

const ended = (endings: readonly (true | null)[]): string | null => {
  const open = endings.filter((ending) => ending === null).length
  return open === 0 ? null : `${open} of ${endings.length} stayed open`
}

const slow = (context: SectionContext, { run }: Ready): Attempt[] => [
  attempt('H09 headers that come a byte at a time', async () => {
    const port = Number(new URL(run.gateway_url).port)
    const text = 'POST /rpc HTTP/1.1\r\nHost: localhost\r\nX-Long: '
    const endings = await dawdle(port, bySize(context, 40, 500, 500), (socket) => {
      socket.write(text)
      const timer = setInterval(() => socket.write('x'), 1_000)
      return () => clearInterval(timer)
    })
    return ended(endings)
  }),
  attempt('H12 handshakes of TLS that are never finished', async () => {
    const port = Number(new URL(run.dashboard_url).port)
    return ended(await dawdle(port, bySize(context, 40, 500, 500), () => undefined))
  }),
]

const many = (context: SectionContext, ready: Ready): Attempt[] => [
  attempt('H05 large bodies without a token', async () => {
    const lines =
      'POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 52428800\r\n\r\n'
    const statuses = await tally(bySize(context, 20, 100, 100), async () => {
      const { status } = await raw(ready.run, lines)
      return status
    })
    return strays(statuses, [401, 429])
  }),
  attempt('H10 idle connections, and many that come and go', async () => {
    const { port } = new URL(ready.run.gateway_url)
    const idle: Socket[] = []
    const open = (): Promise<Socket> =>
      new Promise((resolve, reject) => {
        const socket = connect({ port: Number(port), host: '127.0.0.1' }, () => resolve(socket))
        socket.on('error', reject)
      })
    for (let i = 0; i < bySize(context, 300, 3_000, 5_000); i += 1) idle.push(await open())
    for (let i = 0; i < bySize(context, 300, 5_000, 20_000); i += 1) (await open()).destroy()
    const sent = request({ Authorization: `Bearer ${ready.token}` }, time)
    const answer = await withinMs(raw(ready.run, sent))
    for (const socket of idle) socket.destroy()
    return answer?.status === 200
      ? null
      : `an honest call was answered ${answer?.status ?? 'never'}`
  }),
  attempt('H13 upgrades that are half of one', async () => {
    const halves = [
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n',
    ]
    const statuses = await tally(bySize(context, 60, 2_000, 2_000), async (i) => {
      const bytes = `GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ready.token}\r\n${halves[i % 2]}\r\n`
      const { status } = await raw(ready.run, bytes)
      return status
    })
    return strays(statuses, [400, 404, 405, 426])
  }),
  attempt('J11 bodies of ten megabytes of numbers, and a million keys', async () => {
    const keys = `{${Array.from({ length: 1_000_000 }, (_, i) => `"${i}":1`).join(',')}}`
    const bodies = [`[${'1,'.repeat(5_000_000)}1]`, keys]
    const codes = await tally(bySize(context, 3, 10, 10), async (i) => {
      const sent = request({ Authorization: `Bearer ${ready.token}` }, bodies[i % 2] ?? '')
      const { body, status } = await raw(ready.run, sent)
      return /"code":\s*(-?\d+)/.exec(body)?.[1] ?? String(status)
    })
    // -32000: there is no memory for so many of them at once.
    return strays(codes, ['-32600', '-32000', '413'])
  }),
]

/** Answers to calls that fail inside of the service: nothing of the machine may be in them. */
const failures = (gate: Installation, ready: Ready): Attempt =>
  attempt('J10 calls that fail inside', async () => {
    const { workspace } = ready
    const aside = `${workspace}.aside`
    const ask = async (): Promise<string> => {
      const calls = ['read', 'list'].map((name) => call(`filesystem.${name}`, { path: 'x' }))
      const texts: string[] = []
      for (const body of calls)
        texts.push(
          (await raw(ready.run, request({ Authorization: `Bearer ${ready.token}` }, body))).body,
        )
      return texts.join()
    }
    renameSync(workspace, aside)
    let said = await ask()
    writeFileSync(workspace, 'no folder')
    said += await ask()
    rmSync(workspace)
    renameSync(aside, workspace)
    mkdirSync(workspace, { recursive: true })
    const leaks = [gate.dataDir, 'node:internal', '.ts:', '.js:', 'SELECT '].filter((text) =>
      said.includes(text),
    )
    return leaks.length === 0 ? null : `the answers have ${leaks.join(', ')}`
  })

const decisions = (ready: Ready): Attempt =>
  attempt('J08 calls without an id', async () => {
    const send = async (capability: string, args: object): Promise<number> => {
      const params = { capability, arguments: args }
      const body = JSON.stringify({ jsonrpc: '2.0', method: 'capabilities.invoke', params })
      return (await raw(ready.run, request({ Authorization: `Bearer ${ready.token}` }, body)))
        .status
    }
    const statuses = [
      await send('filesystem.write', { path: 'silent.txt', content: 'x' }),
      await send('filesystem.move', { source: 'silent.txt', destination: 'moved.txt' }),
      await send('filesystem.delete', { path: 'silent.txt' }),
    ]
    if (statuses.some((status) => status !== 204)) return `answered ${statuses.join(', ')}`
    if (!existsSync(join(ready.workspace, 'silent.txt')))
      return 'the allowed call did not run, or the held one did'
    return existsSync(join(ready.workspace, 'moved.txt')) ? 'the blocked call ran' : null
  })

/** Attacks on HTTP and JSON that take more than one request. Those in `slow` wait for limits of time. */
export const httpAttempts = (
  context: SectionContext,
  gate: Installation,
  ready: Ready,
): { readonly quick: Attempt[]; readonly slow: Attempt[] } => ({
  quick: [...lengths(ready), ...many(context, ready), decisions(ready), failures(gate, ready)],
  slow: slow(context, ready),
})
