import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { ServiceConnection } from '../../../ports/service-adapter.ts'
import { mailTimeouts, openImap } from './open-imap.ts'
import type { MailSettings } from './settings.ts'

/** A server that agrees to everything; returns its port. */
const openAgreeable = async (): Promise<number> => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write('* OK [CAPABILITY IMAP4rev1] ready\r\n')
    socket.on('data', (chunk) => {
      for (const line of String(chunk).trim().split('\r\n'))
        socket.write(`${line.split(' ', 1)[0]} OK done\r\n`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test('keeps nothing of the password once it is logged in', async () => {
  const settings = {
    imap_host: '127.0.0.1',
    imap_port: await openAgreeable(),
    imap_security: 'plain',
    address: 'ana@example.org',
  } as MailSettings
  const connection = {
    secret: (_name, _host, work) => work('CANARY-IMAP'),
  } as ServiceConnection
  const { signal } = new AbortController()
  const client = await openImap(connection, settings, mailTimeouts, signal)
  onTestFinished(() => client.close())
  expect(client.usable).toBe(true)
  const { auth } = (client as unknown as { options: { auth: unknown } }).options
  expect(auth).toBeUndefined()
})
