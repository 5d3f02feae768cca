import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { SandboxKit } from './sandbox-kit.ts'

/** Echo server on a Unix socket, as the proxy of the service. */
const openEcho = async (path: string) => {
  let connections = 0
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    connections += 1
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    path,
    connections: () => connections,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

const node = (script: string) => [process.execPath, ['-e', script]] as const
const roomy = { limits: { memory_bytes: 2 ** 31 } }

describe.skipIf(!hasProgram('bwrap'))('the way out of the sandbox', () => {
  test('leads to the proxy on the socket and to nothing else, by the usual variables', async () => {
    await using kit = new SandboxKit()
    await using echo = await openEcho(join(kit.dataDir, 'egress'))
    const network = { kind: 'egress', socket: echo.path } as const
    const { stdout, stderr } = await kit.run(
      ...node(`
        const net = require('node:net')
        const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']
        const urls = new Set(names.map((name) => process.env[name]))
        const [{ hostname, port }] = [...urls].map((url) => new URL(url))
        const ask = (host, port) => new Promise((resolve) => {
          const socket = net.connect({ host, port: Number(port) })
          socket.on('error', (error) => resolve(error.code))
          socket.on('data', (data) => { resolve(String(data)); socket.destroy() })
          socket.write('hello')
        })
        const run = async () => [urls.size, await ask(hostname, port), await ask('127.0.0.1', 7703), await ask('192.0.2.1', 80)]
        run().then((found) => console.log(found.join(' ')))
      `),
      { network, ...roomy },
    )
    expect({ stdout, stderr }).toEqual({ stdout: '1 hello ECONNREFUSED ENETUNREACH\n', stderr: '' })
    expect(echo.connections()).toBe(1)
  })

  test('carries much, both ways, on many connections at once', async () => {
    await using kit = new SandboxKit()
    await using echo = await openEcho(join(kit.dataDir, 'egress'))
    const network = { kind: 'egress', socket: echo.path } as const
    const { stdout, stderr } = await kit.run(
      ...node(`
        const net = require('node:net')
        const { createHash, randomBytes } = require('node:crypto')
        const once = () => new Promise((resolve, reject) => {
          const sent = randomBytes(1_000_000)
          const back = createHash('sha256')
          const socket = net.connect({ host: '127.0.0.1', port: 3128, allowHalfOpen: true })
          socket.on('error', reject)
          socket.on('data', (data) => back.update(data))
          socket.on('end', () => resolve(back.digest('hex') === createHash('sha256').update(sent).digest('hex')))
          socket.end(sent)
        })
        Promise.all(Array.from({ length: 8 }, once)).then((all) => console.log(all.every(Boolean), all.length))
      `),
      { network, ...roomy },
    )
    expect({ stdout, stderr }).toEqual({ stdout: 'true 8\n', stderr: '' })
  })

  test('is not there for a program that was given none', async () => {
    await using kit = new SandboxKit()
    const { stdout } = await kit.perl(
      `socket(my $s, 2, 1, 0); print connect($s, pack('S n a4 x8', 2, 3128, "\\x7f\\0\\0\\1")) ? 'open' : 'closed'; print keys %ENV > 4 ? ' more' : ' no more'`,
    )
    expect(stdout).toBe('closed no more')
  })

  test('ends with the program, connections and all', async () => {
    await using kit = new SandboxKit()
    await using echo = await openEcho(join(kit.dataDir, 'egress'))
    const network = { kind: 'egress', socket: echo.path } as const
    const { code } = await kit.perl(
      `socket(my $s, 2, 1, 0); connect($s, pack('S n a4 x8', 2, 3128, "\\x7f\\0\\0\\1")) or die; syswrite $s, 'x'; sysread $s, my $x, 1; exit 5`,
      { network },
    )
    expect(code).toBe(5)
    // The server closes only when nobody holds a connection to it any more.
    await echo[Symbol.asyncDispose]()
  })
})
