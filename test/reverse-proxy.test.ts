import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { freePorts } from '@gatehouse/testkit/free-ports'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSocket } from './support/mcp-socket.ts'
import { Installation, invoke, type Run } from './support/server.ts'

// The files in packaging/proxy, with this machine's ports and certificates in place of those that they name.

const root = new URL('..', import.meta.url).pathname
const name = 'gate.example.org'
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-proxy-'))
const [cert, key] = [join(folder, 'gate.pem'), join(folder, 'gate.key')]
const password = 'correct horse battery staple'

const gate = new Installation(join(folder, 'data'))
let run: Run
let token: string
let ca: Buffer

/** The example as it stands, except for what it names of the machine; each of those has to be in it. */
const exampleWith = (file: string, changes: Readonly<Record<string, string>>): string => {
  let text = readFileSync(join(root, 'packaging/proxy', file), 'utf8')
  for (const [from, to] of Object.entries(changes)) {
    expect(text).toContain(from)
    text = text.replaceAll(from, to)
  }
  return text
}

const here = () => ({
  '127.0.0.1:7700': new URL(run.gateway_url).host,
  '127.0.0.1:7800': new URL(run.dashboard_url).host,
  '/etc/ssl/gatehouse-ca.pem': join(gate.dataDir, 'tls/ca.pem'),
})

const writeCaddy = (place: string, port: number): readonly string[] => {
  const text = exampleWith('Caddyfile', {
    ...here(),
    [`\n${name} {\n`]: `\n${name}:${port} {\n\ttls ${cert} ${key}\n`,
  })
  const file = join(place, 'Caddyfile')
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`)
  return ['caddy', 'run', '--adapter', 'caddyfile', '--config', file]
}

const writeNginx = (place: string, port: number): readonly string[] => {
  const text = exampleWith('nginx.conf', {
    ...here(),
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    '/etc/ssl/gate.pem': cert,
    '/etc/ssl/gate.key': key,
  })
  const file = join(place, 'main.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(place, kind)};`)
    .join('\n')
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  const rest = `pid ${join(place, 'pid')};\ndaemon off;\nevents {}\n`
  writeFileSync(file, `${user}${rest}http {\naccess_log off;\n${temporary}\n${text}}\n`)
  return ['/usr/sbin/nginx', '-e', 'stderr', '-p', place, '-c', file]
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, servername: name, ca }, () => {
      socket.destroy()
      resolve(true)
    }).on('error', () => resolve(false))
  })

/** Starts a proxy; another one may have got the port first. */
const startProxy = async (
  kind: string,
  write: (place: string, port: number) => readonly string[],
): Promise<{ readonly child: ChildProcess; readonly port: number }> => {
  let said = ''
  for (let tries = 0; tries < 3; tries += 1) {
    const place = join(folder, `${kind}-${tries}`)
    mkdirSync(place)
    const [port = 0] = await freePorts(1)
    const [program = '', ...args] = write(place, port)
    const env = { ...process.env, HOME: place, XDG_DATA_HOME: place, XDG_CONFIG_HOME: place }
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env })
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    await until(async () => child.exitCode !== null || (await isOpen(port)))
    if (child.exitCode === null) return { child, port }
  }
  throw new Error(`${kind} does not start: ${said}`)
}

type Asked = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  /** Address of this machine that the request comes from. */
  readonly from?: string
  readonly ca?: Buffer
  readonly servername?: string
}

const ask = async (
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, from = '127.0.0.1', ...trust }: Asked = {},
): Promise<IncomingMessage> => {
  const sent = request({
    ...{ host: '127.0.0.1', port, path, method, ca, servername: name, localAddress: from },
    ...trust,
    headers: { host: `${name}:${port}`, 'content-type': 'application/json', ...headers },
  })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return answer
}

const textOf = async (answer: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of answer) text += chunk
  return text
}

const cookieOf = (headers: IncomingHttpHeaders): string =>
  (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? ''

const logIn = async (port: number, asked: Asked = {}): Promise<IncomingMessage> => {
  const answer = await ask(port, '/api/session', {
    method: 'POST',
    body: { password },
    ...asked,
    headers: { origin: `https://${name}:${port}`, ...asked.headers },
  })
  answer.resume()
  return answer
}

/** The address of a login is that of its last request. */
const addressesOfLogins = async (): Promise<readonly (string | null)[]> => {
  const { logins } = await gate.json<{ logins: readonly { address: string | null }[] }>([
    'operator',
    'logins',
  ])
  return logins.map(({ address }) => address)
}

beforeAll(async () => {
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject]
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  ca = readFileSync(cert)
  mkdirSync(gate.dataDir, { recursive: true })
  run = await gate.start([
    ...['--public-url', `https://${name}`],
    ...['--trusted-proxies', '127.0.0.1'],
  ])
  await gate.cli(['operator', 'set-password'], password)
  token = (await gate.createAgent('behind')).token
})

afterAll(async () => {
  await gate.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('what is printed and linked leads to the public address', async () => {
  expect(gate.output).toContain(`https://${name}/mcp`)
  expect(run).toMatchObject({ public_url: `https://${name}` })
  await until(async () => gate.output.includes('#setup='))
  expect(gate.output).toContain(`  https://${name}/#setup=`)
})

const proxies = [
  { kind: 'caddy', isHere: hasProgram('caddy'), write: writeCaddy },
  { kind: 'nginx', isHere: hasProgram('nginx'), write: writeNginx },
]

for (const { kind, isHere, write } of proxies)
  describe.skipIf(!isHere)(`behind ${kind}`, () => {
    let proxy: ChildProcess
    let port: number

    beforeAll(async () => {
      ;({ child: proxy, port } = await startProxy(kind, write))
    })

    afterAll(async () => {
      const ended = once(proxy, 'exit')
      // Caddy, asked to end, waits for the stream of events that a test has left: 45 s. Nginx, killed, leaves its workers behind.
      proxy.kill(kind === 'caddy' ? 'SIGKILL' : 'SIGTERM')
      await ended
    })

    test('agents call over JSON-RPC', async () => {
      const body = { jsonrpc: '2.0', id: 1, method: 'capabilities.list' }
      const headers = { authorization: `Bearer ${token}` }
      const answer = await ask(port, '/rpc', { method: 'POST', headers, body })
      expect(JSON.parse(await textOf(answer)).result.capabilities.length).toBeGreaterThan(10)
      expect((await ask(port, '/rpc', { method: 'POST', body })).statusCode).toBe(401)
    })

    test('agents call over a WebSocket', async () => {
      const options = { headers: { host: `${name}:${port}` }, ca, servername: name }
      const socket = await openSocket(`wss://127.0.0.1:${port}/mcp`, token, options)
      const call = { name: 'agent__whoami', arguments: {} }
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: call }))
      const [message] = await once(socket, 'message')
      expect(JSON.parse(String(message))).toMatchObject({ id: 7, result: expect.anything() })
      socket.close()
      await once(socket, 'close')
    })

    test('people log in, and pages of other sites do not act for them', async () => {
      expect((await ask(port, '/')).statusCode).toBe(200)
      const answer = await logIn(port)
      expect(answer.statusCode).toBe(201)
      expect(answer.headers['set-cookie']?.[0]).toContain('Secure')
      const cookie = cookieOf(answer.headers)
      const pause = { method: 'POST', headers: { cookie, origin: `https://${name}:${port}` } }
      expect((await ask(port, '/api/agents/behind/pause', pause)).statusCode).toBe(200)
      expect((await ask(port, '/api/agents/behind/resume', pause)).statusCode).toBe(200)
      const foreign = { method: 'POST', headers: { cookie, origin: 'https://elsewhere.example' } }
      expect((await ask(port, '/api/agents/behind/pause', foreign)).statusCode).toBe(403)
    })

    test('events arrive while the stream is open', async () => {
      const cookie = cookieOf((await logIn(port)).headers)
      const stream = await ask(port, '/api/activity/stream', { headers: { cookie } })
      expect(stream.headers['content-type']).toContain('text/event-stream')
      await invoke(run, token, 'filesystem.write', { path: `${kind}.txt`, content: kind })
      let seen = ''
      for await (const chunk of stream) {
        seen += chunk
        if (seen.includes('filesystem.write')) break
      }
      expect(seen).toContain('"agent":"behind"')
    })

    test('clients are known by their own address, which they cannot choose', async () => {
      const headers = { 'x-forwarded-for': '198.51.100.7' }
      const cookie = cookieOf((await logIn(port, { from: '127.0.0.2', headers })).headers)
      const asked = { from: '127.0.0.2', headers: { ...headers, cookie } }
      expect((await ask(port, '/api/session', asked)).statusCode).toBe(200)
      expect(await addressesOfLogins()).toContain('127.0.0.2')
      expect(await addressesOfLogins()).not.toContain('198.51.100.7')
    })
  })

test('who comes past the proxy is not believed', async () => {
  const { host, port } = new URL(run.dashboard_url)
  const own = readFileSync(join(gate.dataDir, 'tls/ca.pem'))
  const past = (asked: Asked) =>
    ask(Number(port), '/api/session', {
      ...asked,
      ca: own,
      servername: 'localhost',
      from: '127.0.0.3',
      headers: { host, 'x-forwarded-for': '198.51.100.8', ...asked.headers },
    })
  const origin = { origin: `https://${host}` }
  const answer = await past({ method: 'POST', body: { password }, headers: origin })
  expect(answer.statusCode).toBe(201)
  expect((await past({ headers: { cookie: cookieOf(answer.headers) } })).statusCode).toBe(200)
  const addresses = await addressesOfLogins()
  expect(addresses).toContain('127.0.0.3')
  expect(addresses).not.toContain('198.51.100.8')
})
