import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { platform } from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { assertPortsFree, type Listener } from './ports.ts'

const listener = (port: number, over: Partial<Listener> = {}): Listener => ({
  surface: 'the gateway',
  host: '127.0.0.1',
  port,
  protocol: 'tcp',
  portFlag: '--gateway-port',
  hostFlag: '--host',
  ...over,
})

const occupy = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

test('a busy port is named, with who has it and the flag that changes it', async () => {
  const port = await occupy()
  const refused = assertPortsFree([listener(port)])
  await expect(refused).rejects.toMatchObject({
    type: 'PortUnavailable',
    message: expect.stringContaining(`Port ${port} of 127.0.0.1, for the gateway,`),
    recovery: expect.arrayContaining([expect.objectContaining({ action: '--gateway-port PORT' })]),
  })
  if (platform === 'linux') await expect(refused).rejects.toThrow(`process ${process.pid} (`)
})

test('a busy UDP port is found', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  const { port } = socket.address()
  const wake = listener(port, { protocol: 'udp', portFlag: '--wake-port' })
  await expect(assertPortsFree([wake])).rejects.toMatchObject({ type: 'PortUnavailable' })
})

test('an address that is not of this machine is refused by its flag', async () => {
  const elsewhere = listener(await occupy(), { host: '192.0.2.1' })
  await expect(assertPortsFree([elsewhere])).rejects.toMatchObject({
    message: expect.stringContaining('no such address'),
    recovery: expect.arrayContaining([expect.objectContaining({ action: '--host ADDRESS' })]),
  })
})

test('two of our own with one port are found, and free ones stay free', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  const second = listener(port, { surface: 'the User API', portFlag: '--user-api-port' })
  await expect(assertPortsFree([listener(port), second])).rejects.toThrow(
    'the gateway has it already, by --gateway-port',
  )
  await assertPortsFree([listener(port), listener(0)])
  await assertPortsFree([listener(port)])
})
