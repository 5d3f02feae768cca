import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startPostgres } from '@gatehouse/testkit'
import { freePorts } from '@gatehouse/testkit/free-ports'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDatabase } from '../packages/server/src/storage/postgres/testing.ts'
import { declares, ModernPeer } from '../packages/server/test/kit/modern-peer.ts'
import { openSocket } from './support/mcp-socket.ts'
import { Installation, invoke, type Run, rpc } from './support/server.ts'

// The file in packaging/proxy, with this machine's ports and without TLS in front: reverse-proxy.test.ts has that.

const server = await startPostgres()
const lacking = 'missing' in server ? server.missing : hasProgram('nginx') ? null : 'nginx'
const serverUrl = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

const name = 'gate.example.org'
const password = 'correct horse battery staple'
const policy = `version: 1
rules:
  - { match: filesystem.append, tier: approval_required }
`

/** Nodes that share a folder of workspaces, the first of which the others joined. */
const startNodes = async (database: string): Promise<readonly Installation[]> => {
  const nodes = [new Installation(), new Installation(), new Installation()]
  onTestFinished(async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]()
  })
  const [first, ...others] = nodes as [Installation, ...Installation[]]
  const flags = ['--database-url', database, '--public-url', `https://${name}`]
  await first.start([...flags, '--trusted-proxies', '127.0.0.1'])
  writeFileSync(join(first.dataDir, 'policies/organisation.yaml'), policy)
  for (const node of others) {
    for (const file of ['vault.key', 'policy.key', 'tls/ca.pem', 'tls/ca-key.pem'])
      cpSync(join(first.dataDir, file), join(node.dataDir, file), { recursive: true })
    symlinkSync(join(first.dataDir, 'workspaces'), join(node.dataDir, 'workspaces'))
  }
  await Promise.all(others.map((node) => node.start([...flags, '--trusted-proxies', '127.0.0.1'])))
  return nodes
}

/** nginx before the nodes; its port. */
const startBalancer = async (nodes: readonly Installation[]): Promise<number> => {
  const place = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'))
  const [port = 0] = await freePorts(1)
  let config = readFileSync(new URL('../packaging/proxy/nginx-nodes.conf', import.meta.url), 'utf8')
  const put = (from: string, to: string): void => {
    expect(config).toContain(from)
    config = config.replaceAll(from, to)
  }
  for (const [at, { run }] of nodes.entries()) {
    put(`192.0.2.${11 + at}:7700`, new URL(run?.gateway_url ?? '').host)
    put(`192.0.2.${11 + at}:7800`, new URL(run?.dashboard_url ?? '').host)
  }
  put('listen 443 ssl', `listen 127.0.0.1:${port}`)
  put(`server_name ${name};`, `server_name ${name};\nadd_header X-Node $upstream_addr always;`)
  put('/etc/ssl/gatehouse-ca.pem', join(nodes[0]?.dataDir ?? '', 'tls/ca.pem'))
  config = config.replaceAll(/^\s+ssl_.*\n/gm, '')
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const temporary = kinds.map((kind) => `${kind}_temp_path ${join(place, kind)};`).join('\n')
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  const file = join(place, 'main.conf')
  writeFileSync(
    file,
    `${user}pid ${join(place, 'pid')};\ndaemon off;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${config}}\n`,
  )
  mkdirSync(join(place, 'logs'))
  const child = spawn('/usr/sbin/nginx', ['-e', 'stderr', '-p', place, '-c', file], {
    stdio: 'ignore',
  })
  onTestFinished(async () => {
    const ended = once(child, 'exit')
    // A master that is killed leaves its workers behind.
    child.kill('SIGTERM')
    if (child.exitCode === null) await ended
    rmSync(place, { recursive: true, force: true })
  })
  await until(async () => (await fetch(`http://127.0.0.1:${port}/rpc`).catch(() => null)) !== null)
  return port
}

type Asked = { readonly method?: string; readonly cookie?: string; readonly body?: object }

/** A browser at the public name. */
const browse = async (
  port: number,
  path: string,
  { method = 'GET', cookie, body }: Asked = {},
): Promise<IncomingMessage> => {
  const sent = request({
    ...{ host: '127.0.0.1', port, path, method },
    headers: {
      host: name,
      origin: `https://${name}`,
      'content-type': 'application/json',
      ...(cookie ? { cookie } : {}),
    },
  })
  sent.end(body ? JSON.stringify(body) : undefined)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return answer
}

/** A client of the era with sessions, which keeps the one that it was given. */
class SessionPeer {
  readonly #url: string
  readonly #token: string
  #session = ''
  #ids = 0

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  async send(method: string, params: object): Promise<Response> {
    this.#ids += 1
    return fetch(`${this.#url}/mcp`, {
      method: 'POST',
      headers: this.#headers(),
      body: JSON.stringify({ jsonrpc: '2.0', id: this.#ids, method, params }),
    })
  }

  async open(): Promise<void> {
    const clientInfo = { name: 'balanced', version: '1' }
    const answer = await this.send('initialize', {
      ...{ protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    })
    this.#session = answer.headers.get('mcp-session-id') ?? ''
    await answer.text()
  }

  async call(tool: string, args: object): Promise<string> {
    const answer = await this.send('tools/call', { name: tool, arguments: args })
    return `${answer.status} ${await answer.text()}`
  }

  /** The stream of what is pushed to the session. */
  listen(signal: AbortSignal): Promise<Response> {
    return fetch(`${this.#url}/mcp`, { headers: this.#headers(), signal })
  }

  async end(): Promise<number> {
    return (await fetch(`${this.#url}/mcp`, { method: 'DELETE', headers: this.#headers() })).status
  }

  #headers(): Record<string, string> {
    return {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(this.#session ? { 'mcp-session-id': this.#session } : {}),
    }
  }
}

/** Reads until the text is there. */
const readUntil = async (stream: AsyncIterable<Uint8Array | string>, wanted: string) => {
  let seen = ''
  for await (const chunk of stream) {
    seen += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    if (seen.includes(wanted)) return seen
  }
  throw new Error(`the stream ended without ${wanted}: ${seen}`)
}

describe.skipIf(lacking !== null)(
  `three nodes behind nginx${lacking === null ? '' : ` (skipped: ${lacking})`}`,
  () => {
    test('serve clients of every kind on any of them, and go on when one is killed', async () => {
      await using database = await createDatabase(serverUrl)
      const nodes = await startNodes(database.url)
      const [one] = nodes as [Installation, ...Installation[]]
      const port = await startBalancer(nodes)
      const url = `http://127.0.0.1:${port}`
      const balanced = { ...one.run, gateway_url: url, mcp_url: `${url}/mcp` } as Run
      const { token } = await one.createAgent('mailbot')
      await one.cli(['operator', 'set-password'], password)

      // JSON-RPC, and files on every node.
      await invoke(balanced, token, 'filesystem.write', { path: 'log.txt', content: '' })
      for (let at = 0; at < 6; at += 1)
        expect(await invoke(balanced, token, 'filesystem.stat', { path: 'log.txt' })).toMatchObject(
          {
            result: { success: true },
          },
        )

      // One session, whichever node has the request, and what is kept in it.
      const peer = new SessionPeer(url, token)
      await peer.open()
      await peer.call('scratch__set', { key: 'k', value: 'kept' })
      for (let at = 0; at < 6; at += 1)
        expect(await peer.call('scratch__get', { key: 'k' })).toContain('kept')
      // The era without sessions has that of its client.
      const modern = new ModernPeer({ url }, token, declares.tasks)
      await modern.call('scratch__set', { key: 'm', value: 'modern' })
      for (let at = 0; at < 6; at += 1)
        expect(JSON.stringify(await modern.call('scratch__get', { key: 'm' }))).toContain('modern')

      // People: one login on every node, and requests that another node was asked.
      const entered = await browse(port, '/api/session', { method: 'POST', body: { password } })
      expect(entered.statusCode).toBe(201)
      const cookie = (entered.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? ''
      entered.resume()
      for (let at = 0; at < 6; at += 1) {
        const answer = await browse(port, '/api/session', { cookie })
        answer.resume()
        expect(answer.statusCode).toBe(200)
      }
      const watching = await Promise.all(
        nodes.map(() => browse(port, '/api/approvals/stream', { cookie })),
      )
      const told = watching.map((stream) => readUntil(stream, 'for everybody'))
      const line = (content: string) => ({ path: 'log.txt', content })
      const asking = (content: string) =>
        invoke(balanced, token, 'filesystem.append', line(content))
      const idOf = (answer: Awaited<ReturnType<typeof invoke>>) =>
        String(answer.error?.data?.['approval_id'])
      const id = idOf(await asking('for everybody'))
      await Promise.all(told)

      // A stream and a socket of the agent hear of a decision on any node.
      const leaving = new AbortController()
      const stream = await peer.listen(leaving.signal)
      const heard = readUntil(stream.body as unknown as AsyncIterable<Uint8Array>, id)
      let node: unknown
      const socket = await openSocket(`ws://127.0.0.1:${port}/mcp`, token, {
        finishRequest: (asked, ws) => {
          ws.on('upgrade', ({ headers }) => {
            node = headers['x-node']
          })
          asked.end()
        },
      })
      const holder = nodes.find(
        ({ run }) => new URL(run?.gateway_url ?? '').host === node,
      ) as Installation
      const [left, third] = nodes.filter((node) => node !== holder) as [Installation, Installation]
      const clientInfo = { name: 'socket', version: '1' }
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
      await once(socket, 'message')
      const messages: string[] = []
      socket.on('message', (data) => messages.push(String(data)))
      const approve = (node: Installation, approval: string) =>
        node.json(['approvals', 'approve', approval])
      await approve(left, id)
      await heard
      await expect.poll(() => messages.join()).toContain(id)
      leaving.abort()

      // A task that one node began, and a request that is still open when that node dies.
      const task = await modern.call('filesystem__append', line('task'))
      const taskId = /"taskId":"([^"]+)"/.exec(JSON.stringify(task))?.[1] ?? ''
      const open = idOf(await asking('open'))
      const closed = once(socket, 'close')
      const waiting = Promise.all(
        nodes.map(({ run }) =>
          rpc(run as Run, token, 'approvals.wait', {
            ...{ approval_id: open, timeout_seconds: 60 },
          }).catch(() => null),
        ),
      )
      await Promise.all([holder.kill(), third.kill(), closed])
      const { approvals } = await left.json<{ approvals: { id: string }[] }>(['approvals', 'list'])
      for (const { id: pending } of approvals) await approve(left, pending)
      expect(JSON.stringify(await waiting)).toContain(
        '"status":"approved","result":{"success":true',
      )
      expect(await peer.call('scratch__get', { key: 'k' })).toContain('kept')
      expect(JSON.stringify(await modern.call('scratch__get', { key: 'm' }))).toContain('modern')
      await expect
        .poll(async () => JSON.stringify(await modern.request('tasks/get', { taskId })))
        .toContain('"status":"completed"')

      // A wake, told on one node, and a session that is ended on another one than it was opened on.
      await third.start(['--database-url', database.url, '--public-url', `https://${name}`])
      const seen = async ({ run }: Installation) =>
        JSON.stringify(await rpc(run as Run, token, 'events.poll', { timeout_seconds: 0 }))
      const udp = createSocket('udp4')
      onTestFinished(() => void udp.close())
      udp.send(JSON.stringify({ agent: 'mailbot', reason: 'news' }), left.run?.wake_port ?? 0)
      for (const node of [left, third]) await expect.poll(() => seen(node)).toContain('"news"')
      expect(await peer.end()).toBe(204)
      await expect.poll(() => peer.call('agent__whoami', {})).toContain('404')
      expect(
        readFileSync(join(one.dataDir, 'workspaces/mailbot/log.txt'), 'utf8').match(
          /for everybody|task|open/g,
        ),
      ).toHaveLength(3)
      // The proxy gives a node two seconds to take a connection, and one alone is left.
      await expect
        .poll(async () => text(await browse(port, '/api/session', { cookie })))
        .toContain('operator')
    })
  },
)
