import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@gatehouse/server/ports/json'
import { createMailAdapter } from '@gatehouse/server/proxy/adapters/mail/mail-adapter'
import { freePorts } from '@gatehouse/testkit/free-ports'
import { makeCertificate } from '@gatehouse/testkit/mail-server/certificate'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { TcpGate } from '@gatehouse/testkit/mail-server/tcp-gate'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionTo, never, plainSettings, quickTimeouts } from '../mail/kit.ts'

const adapter = createMailAdapter()
/** For servers that are silent. */
const hasty = createMailAdapter(quickTimeouts)

/** A server that says one thing to everybody. */
const says = async (text: string) => {
  const [port = 0] = await freePorts(1)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write(text)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return Object.assign(server, { port })
}

describe.skipIf(!hasProgram('dovecot'))('testing a connection', () => {
  let server: Dovecot
  let smtp: SmtpReceiver
  let folder: string
  beforeAll(async () => {
    server = await Dovecot.start()
    smtp = await SmtpReceiver.open({ users: { 'ana@example.org': 'password-of-ana' } })
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-mail-'))
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await smtp[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  const check = async (change: JsonObject, password?: string, by = adapter) => {
    const settings = plainSettings(server.imapPort, smtp.port, change)
    return by.test(connectionTo(settings, password), never)
  }
  /** Finding in one line: which check, what it found, what to do. */
  const wrong = async (change: JsonObject, password?: string, by = adapter) =>
    (await check(change, password, by))
      .filter(({ ok }) => !ok)
      .map(({ name, detail, fix }) => `${name}: ${detail} | ${fix}`)

  test('says of each step that it works, and sends no mail', async () => {
    const checks = await check({})
    expect(checks.map(({ name, ok }) => `${name} ${ok}`)).toEqual([
      'IMAP connection true',
      'IMAP login true',
      'IMAP folders true',
      'SMTP connection true',
      'SMTP login true',
    ])
    expect(checks[2]?.detail).toBe('6 folders, 0 messages')
    expect(smtp.deliveries).toEqual([])
  })

  test('works under TLS with an authority of its own, and under STARTTLS', async () => {
    const tls = await makeCertificate(folder)
    await using secure = await SmtpReceiver.open({
      users: { 'ana@example.org': 'password-of-ana' },
      tls,
    })
    const authorities = `${server.certificate}\n${tls.cert}`
    const change = {
      imap_host: 'localhost',
      smtp_host: 'localhost',
      smtp_port: secure.port,
      smtp_security: 'starttls',
      ca_certificate: authorities,
    }
    expect(await wrong({ ...change, imap_port: server.imapsPort, imap_security: 'tls' })).toEqual(
      [],
    )
    expect(await wrong({ ...change, imap_security: 'starttls' })).toEqual([])
  })

  test('names a host that does not exist', async () => {
    const [line] = await wrong({ imap_host: 'no-such-host.invalid', imap_security: 'tls' })
    expect(line).toMatch(
      /^IMAP connection: no-such-host.invalid:\d+: (there is no host of this name|the name of the host could not be looked up)/,
    )
  })

  test('names a port where nobody listens', async () => {
    const [port = 0] = await freePorts(1)
    expect(await wrong({ smtp_port: port })).toEqual([
      `SMTP connection: 127.0.0.1:${port}: nobody listens there | Check the port, and whether the server runs.`,
    ])
  })

  test('names a wrong password, on both sides, and never shows it', async () => {
    const lines = await wrong({}, 'a-wrong-one')
    expect(lines.map((line) => line.split(':')[0])).toEqual(['IMAP login', 'SMTP login'])
    expect(lines[0]).toContain('refused the login of ana@example.org')
    expect(lines.join()).toContain('Check user and password')
    expect(lines.join()).not.toContain('a-wrong-one')
  })

  test('names servers that are mixed up, and those that are of another kind', async () => {
    expect(await wrong({ imap_port: smtp.port, smtp_port: server.imapPort })).toEqual([
      `IMAP connection: 127.0.0.1:${smtp.port} speaks SMTP, not IMAP | The hosts or ports of reading and sending are mixed up.`,
      `SMTP connection: 127.0.0.1:${server.imapPort} speaks IMAP, not SMTP | The hosts or ports of reading and sending are mixed up.`,
    ])
    const pop = await says('+OK pop here\r\n')
    expect(await wrong({ imap_port: pop.port })).toEqual([
      `IMAP connection: 127.0.0.1:${pop.port} speaks POP3, not IMAP | Check host and port.`,
    ])
    pop.close()
  })

  test('names a certificate that is not trusted', async () => {
    const [line] = await wrong({ imap_port: server.imapsPort, imap_security: 'tls' })
    expect(line).toContain('is not trusted: its certificate is signed by itself | ')
    expect(line).toContain('ca_certificate')
  })

  test('names TLS where there is none, and none where there is', async () => {
    const [clear] = await wrong({ imap_security: 'tls' })
    expect(clear).toContain('answers, but not with TLS | Check the port')
    const [silent] = await wrong({ imap_port: server.imapsPort }, undefined, hasty)
    expect(silent).toContain('it took the connection and said nothing')
    const [upgrade] = await wrong({ smtp_security: 'starttls' })
    expect(upgrade).toContain('does not offer STARTTLS')
  })

  test('gives up on a server that never says a word', async () => {
    await using gate = await TcpGate.open(server.imapPort)
    gate.behave({ kind: 'silent' })
    const [line] = await wrong({ imap_port: gate.port }, undefined, hasty)
    expect(line).toContain('it took the connection and said nothing')
  })

  test('what a server says is shown in one line without control characters', async () => {
    const loud = await says(`\u001b[31m${'x'.repeat(5_000)}\r\n`)
    const [check] = await adapter.test(connectionTo(plainSettings(loud.port, smtp.port)), never)
    expect(check?.ok).toBe(false)
    expect(check?.detail).toMatch(/^[\x20-\x7e]{1,300}$/)
    loud.close()
  })

  test.for([
    [{ imap_host: 'imap.example.org' }, 'imap_security'],
    [{ smtp_host: '10.0.0.1' }, 'smtp_security'],
    [{ address: 'no address' }, 'address'],
    [{ imap_host: 'https://imap.example.org' }, 'imap_host'],
    [{ imap_port: 0 }, 'imap_port'],
    [{ imap_hots: 'x' }, ''],
    [{ name: 'Ana\r\nBcc: eve@example.net' }, 'name'],
  ] as const)('settings that cannot work are refused by name: %j', ([change, field]) => {
    const read = adapter.settings.safeParse(plainSettings(143, 25, change))
    expect(read.success).toBe(false)
    expect(read.error?.issues.map(({ path }) => path.join('.'))).toEqual([field])
  })
})
