import { execFile } from 'node:child_process'
import { sign, verify, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Log } from '../ports/log.ts'
import { issueLeaf, type Pair } from './issue.ts'
import { authorityFault, fingerprintOf, leafFault, signingFault } from './judge.ts'
import { namesOf } from './names.ts'
import { type OpenedCertificates, openLocalCertificates } from './open-certificates.ts'
import { openOwnCertificate } from './open-own-certificate.ts'

const run = promisify(execFile)
const dayMs = 86_400_000

let folder: string
let logged: string[]
const note = (facts: object, message: string) => {
  logged.push(`${message} ${JSON.stringify(facts)}`)
}
let warned: string[]
const warn = (facts: object, message: string) => {
  warned.push(`${message} ${JSON.stringify(facts)}`)
  note(facts, message)
}
const log: Log = { debug: note, info: note, warn, error: note }

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
  logged = []
  warned = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const directory = () => join(folder, 'tls')
const file = (name: string) => join(directory(), name)
const read = (name: string) => readFileSync(file(name), 'utf8')
const open = (settings: { hosts?: readonly string[]; nowMs?: () => number } = {}) =>
  openLocalCertificates({ directory: directory(), hosts: [], log, ...settings })

/** Handshake of a client that trusts this authority with a server with this pair. */
async function shake(pair: Pair, ca: string, servername: string): Promise<string> {
  const server = createServer({ key: pair.key, cert: pair.cert }, (socket) => socket.end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const isAddress = /^[\d.]+$|:/.test(servername)
  const client = connect({
    host: '127.0.0.1',
    port,
    ca,
    ...(isAddress ? {} : { servername }),
    checkServerIdentity: (_host, cert) => {
      const leaf = new X509Certificate(cert.raw)
      const named = isAddress ? leaf.checkIP(servername) : leaf.checkHost(servername)
      return named === undefined ? new Error('NAME_MISMATCH') : undefined
    },
  })
  client.on('data', () => undefined)
  const outcome = await new Promise<string>((resolve) => {
    client.once('secureConnect', () => resolve('trusted'))
    client.once('error', (error) => resolve(error.message))
  })
  client.destroy()
  server.close()
  await once(server, 'close')
  return outcome
}

const served = ({ cert, key }: ReturnType<OpenedCertificates['current']>): Pair => ({ cert, key })

test('makes a chain that browsers and other clients accept for every name of this machine', async () => {
  using certificates = await open({ hosts: ['gate.example', '192.0.2.7', '2001:db8::1'] })
  const pair = served(certificates.current())
  const ca = read('ca.pem')
  for (const name of [
    'localhost',
    'gatehouse.localhost',
    '127.0.0.1',
    '::1',
    'gate.example',
    '192.0.2.7',
    '2001:db8::1',
  ])
    expect([name, await shake(pair, ca, name)]).toEqual([name, 'trusted'])
  const shown = certificates.describe().names
  expect(shown.filter((name) => name.includes(':'))).toEqual(['::1', '2001:db8::1'])
  expect(await shake(pair, ca, 'other.example')).toBe('NAME_MISMATCH')
  const { stdout } = await run('openssl', [
    'verify',
    '-x509_strict',
    '-purpose',
    'sslserver',
    '-CAfile',
    file('ca.pem'),
    file('cert.pem'),
  ])
  expect(stdout).toContain('OK')
})

test('has the parameters that were promised', async () => {
  using _ = await open()
  const text = async (name: string) =>
    (await run('openssl', ['x509', '-noout', '-text', '-in', file(name)])).stdout
  const [authority, leaf] = [await text('ca.pem'), await text('cert.pem')]
  expect(authority).toContain('CA:TRUE, pathlen:0')
  expect(authority).toMatch(/Name Constraints: critical\s+Permitted:/)
  expect(authority).toContain('DNS:localhost')
  expect(authority).toContain('IP:127.0.0.0/255.0.0.0')
  expect(authority).toContain('ASN1 OID: prime256v1')
  expect(leaf).toContain('CA:FALSE')
  expect(leaf).toContain('TLS Web Server Authentication')
  const daysOf = (pem: string) => {
    const cert = new X509Certificate(pem)
    return (Date.parse(cert.validTo) - Date.now()) / dayMs
  }
  expect(daysOf(read('cert.pem'))).toBeCloseTo(397, 1)
  expect(daysOf(read('ca.pem'))).toBeCloseTo(3_650, 1)
  for (const name of readdirSync(directory()))
    expect([name, statSync(file(name)).mode & 0o777]).toEqual([name, 0o600])
  expect(readdirSync(directory()).toSorted()).toEqual([
    'ca-key.pem',
    'ca.pem',
    'cert.pem',
    'key.pem',
  ])
})

test('keeps what is good, to the byte, and closes keys that stand open', async () => {
  const first = (await open()).current()
  chmodSync(file('key.pem'), 0o644)
  const second = (await open()).current()
  expect(second).toEqual(first)
  expect(statSync(file('key.pem')).mode & 0o777).toBe(0o600)
})

describe('repairs', () => {
  const damages: [string, () => void | Promise<void>][] = [
    ['a deleted certificate', () => rmSync(file('cert.pem'))],
    ['a deleted key', () => rmSync(file('key.pem'))],
    [
      'a certificate that is no certificate',
      () => writeFileSync(file('cert.pem'), 'no certificate'),
    ],
    ['a key cut short', () => writeFileSync(file('key.pem'), read('key.pem').slice(0, 90))],
    [
      'a key of another pair',
      async () => {
        const other = join(folder, 'other')
        using _ = await openLocalCertificates({ directory: other, hosts: [], log })
        writeFileSync(file('key.pem'), readFileSync(join(other, 'key.pem')))
      },
    ],
  ]
  test.each(damages)('%s, by the same authority', async (_name, damage) => {
    const before = (await open()).current()
    const ca = read('ca.pem')
    await damage()
    using certificates = await open()
    const after = certificates.current()
    expect(after.fingerprint).not.toBe(before.fingerprint)
    expect(read('ca.pem')).toBe(ca)
    expect(await shake(served(after), ca, 'localhost')).toBe('trusted')
    expect(logged.join('\n')).toContain(after.fingerprint)
  })

  test('an expired certificate, and one that expires within 30 days', async () => {
    using _ = await open({ nowMs: () => Date.now() - 398 * dayMs })
    const expired = read('cert.pem')
    expect(Date.parse(new X509Certificate(expired).validTo)).toBeLessThan(Date.now())
    using certificates = await open()
    expect(await shake(served(certificates.current()), read('ca.pem'), 'localhost')).toBe('trusted')
    const soon = (await open({ nowMs: () => Date.now() + (397 - 29) * dayMs })).current()
    expect(soon.fingerprint).not.toBe(certificates.current().fingerprint)
    const fine = (await open({ nowMs: () => Date.now() + (397 - 28) * dayMs })).current()
    expect(fine).toEqual(soon)
  })

  test('a name that was configured later', async () => {
    using _ = await open()
    using certificates = await open({ hosts: ['gate.example'] })
    const pair = served(certificates.current())
    expect(await shake(pair, read('ca.pem'), 'gate.example')).toBe('trusted')
  })
})

describe('an authority that clients trust', () => {
  const lose = (name: string) => rmSync(file(name))
  const spoil = (name: string) => writeFileSync(file(name), 'nothing')

  test.each<[string, string, () => void]>([
    ['ca.pem is damaged', 'ca.pem', () => spoil('ca.pem')],
    ['ca.pem is gone', 'ca.pem', () => lose('ca.pem')],
    [
      'ca.pem is a certificate that signs nothing',
      'ca.pem',
      () => writeFileSync(file('ca.pem'), read('cert.pem')),
    ],
    // The key of the authority is missed only when something is to be signed.
    [
      'ca-key.pem is damaged and there is no certificate',
      'ca-key.pem',
      () => {
        spoil('ca-key.pem')
        lose('cert.pem')
      },
    ],
    [
      'ca-key.pem is gone and there is no certificate',
      'ca-key.pem',
      () => {
        lose('ca-key.pem')
        lose('cert.pem')
      },
    ],
  ])('is not replaced by itself: %s', async (_name, damaged, damage) => {
    using _ = await open()
    const good = read(damaged)
    const ca = read('ca.pem')
    damage()
    await expect(open()).rejects.toMatchObject({
      type: 'InvalidConfiguration',
      facts: { origin: file(damaged) },
      recovery: [
        { action: `restore ${file(damaged)}` },
        { action: `rm ${file('ca.pem')} ${file('ca-key.pem')}` },
      ],
    })
    writeFileSync(file(damaged), good)
    using restored = await open()
    expect(await shake(served(restored.current()), ca, 'localhost')).toBe('trusted')
  })

  test('is made anew where both of its files were removed on purpose', async () => {
    using _ = await open()
    const ca = read('ca.pem')
    for (const name of ['ca.pem', 'ca-key.pem']) lose(name)
    using certificates = await open()
    expect(read('ca.pem')).not.toBe(ca)
    expect(await shake(served(certificates.current()), read('ca.pem'), 'localhost')).toBe('trusted')
  })

  test('may lose its key while its certificate serves, also one that is due, and says so', async () => {
    let nowMs = Date.now()
    using certificates = await open({ nowMs: () => nowMs })
    spoil('ca-key.pem')
    nowMs += (397 - 29) * dayMs
    expect(await certificates.refresh()).toBe(false)
    expect(certificates.warning()).toContain(`${file('ca-key.pem')} has a damaged key`)
    using again = await open({ nowMs: () => nowMs })
    expect(again.current().cert).toBe(certificates.current().cert)
    expect(again.warning()).toContain('restore it from a backup')
    expect(warned.join()).toContain(file('ca-key.pem'))
  })
})

describe('one bit that changes', () => {
  const names = ['ca.pem', 'ca-key.pem', 'cert.pem', 'key.pem'] as const
  const signs = (cert: string, key: string): boolean =>
    verify(
      null,
      Buffer.from('x'),
      new X509Certificate(cert).publicKey,
      sign(null, Buffer.from('x'), key),
    )

  type Files = Readonly<Record<(typeof names)[number], string>>

  /** One bit of each byte of a key, and of each third one of a certificate: all bits take a minute. */
  function* flipsOf(good: Files): Generator<[place: string, flipped: Files]> {
    for (const name of names) {
      const bytes = readFileSync(file(name))
      for (let at = 0; at < bytes.length; at += name.includes('key') ? 1 : 3) {
        const flipped = Buffer.from(bytes)
        flipped[at] = (flipped[at] as number) ^ (1 << ((at * 5) % 8))
        yield [`${name} at ${at}`, { ...good, [name]: flipped.toString('utf8') }]
      }
    }
  }

  const faultIn = (files: Files): string | null => {
    const [cert, key, ca] = [files['cert.pem'], files['key.pem'], files['ca.pem']]
    const [needed, now] = [namesOf([]), Date.now()]
    return (
      authorityFault({ cert: ca, key: files['ca-key.pem'] }, needed, now) ??
      leafFault({ cert, key }, ca, needed, now) ??
      signingFault({ cert: ca, key: files['ca-key.pem'] })
    )
  }

  const isSame = (files: Files, good: Files): boolean =>
    fingerprintOf(files['ca.pem']) === fingerprintOf(good['ca.pem']) &&
    fingerprintOf(files['cert.pem']) === fingerprintOf(good['cert.pem']) &&
    signs(files['cert.pem'], files['key.pem']) &&
    signs(files['ca.pem'], files['ca-key.pem'])

  test('in any of its files is found, or changes nothing that a client sees', async () => {
    using _ = await open()
    const good = Object.fromEntries(names.map((name) => [name, read(name)])) as Files
    expect(faultIn(good)).toBeNull()
    const passed = [...flipsOf(good)].filter(
      ([, files]) => faultIn(files) === null && !isSame(files, good),
    )
    expect(passed.map(([place]) => place)).toEqual([])
  })

  test('in a file of the certificate, or in the key of the authority, is warned of by name', async () => {
    using _ = await open()
    const damage = (name: string) => {
      const der = Buffer.from(read(name).replace(/-----[^-]+-----/g, ''), 'base64')
      der[40] = (der[40] as number) ^ 1
      const kind = name.includes('key') ? 'PRIVATE KEY' : 'CERTIFICATE'
      const body = der.toString('base64').replace(/.{64}/g, '$&\n')
      writeFileSync(file(name), `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----\n`)
    }
    for (const [name, words] of [
      ['ca-key.pem', 'cannot sign'],
      ['key.pem', 'made anew'],
      ['cert.pem', 'made anew'],
    ] as const) {
      warned = []
      const good = read(name)
      damage(name)
      using __ = await open()
      if (name === 'ca-key.pem') writeFileSync(file(name), good)
      expect(warned.join('\n')).toContain(words)
      expect(warned.join('\n')).toContain(file(name))
    }
  })
})

test('has an authority that can vouch for this machine only', async () => {
  using _ = await open()
  const authority = { cert: read('ca.pem'), key: read('ca-key.pem') }
  const leafFor = (dns: readonly string[], ip: readonly string[]) =>
    issueLeaf({ authority, names: { dns, ip }, nowMs: Date.now() })
  expect(await shake(await leafFor(['a.localhost'], []), authority.cert, 'a.localhost')).toBe(
    'trusted',
  )
  const bank = await leafFor(['bank.example'], [])
  const refused = 'permitted subtree violation'
  expect(await shake(bank, authority.cert, 'bank.example')).toBe(refused)
  const address = await leafFor([], ['8.8.8.8'])
  expect(await shake(address, authority.cert, '8.8.8.8')).toBe(refused)
  writeFileSync(join(folder, 'bank.pem'), bank.cert)
  const verdict = run('openssl', ['verify', '-CAfile', file('ca.pem'), join(folder, 'bank.pem')])
  await expect(verdict).rejects.toMatchObject({
    stderr: expect.stringContaining(refused),
  })
})

test('tells those who listen of a certificate that took the place of another', async () => {
  let nowMs = Date.now()
  using certificates = await open({ nowMs: () => nowMs })
  const seen: string[] = []
  using _ = certificates.onChange(({ fingerprint }) => seen.push(fingerprint))
  expect(await certificates.refresh()).toBe(false)
  nowMs += 380 * dayMs
  expect(await certificates.refresh()).toBe(true)
  expect(seen).toEqual([certificates.current().fingerprint])
})

describe('a certificate of the operator’s own', () => {
  const files = () => ({ cert: join(folder, 'own.pem'), key: join(folder, 'own-key.pem') })
  const bring = async (nowMs = Date.now()): Promise<Pair> => {
    const from = mkdtempSync(join(folder, 'made-'))
    using made = await openLocalCertificates({
      directory: from,
      hosts: [],
      log,
      nowMs: () => nowMs,
    })
    const pair = served(made.current())
    writeFileSync(files().cert, pair.cert)
    writeFileSync(files().key, pair.key)
    return pair
  }

  test('is served, and read again when it changes', async () => {
    const first = await bring()
    using certificates = await openOwnCertificate({ files: files(), log })
    expect(certificates.current().cert).toBe(first.cert)
    const second = await bring()
    expect(await certificates.refresh()).toBe(true)
    expect(certificates.current().cert).toBe(second.cert)
  })

  test('stays active while the files that follow do not fit together', async () => {
    const first = await bring()
    using certificates = await openOwnCertificate({ files: files(), log })
    writeFileSync(files().key, 'half of it')
    expect(await certificates.refresh()).toBe(false)
    expect(await certificates.refresh()).toBe(false)
    expect(certificates.current().cert).toBe(first.cert)
    expect(logged.filter((line) => line.includes('is not used'))).toHaveLength(1)
    const second = await bring()
    expect(await certificates.refresh()).toBe(true)
    expect(certificates.current().cert).toBe(second.cert)
  })

  test('is refused at the start when it is missing, mismatched or expired', async () => {
    const refusal = (detail: string) => ({ type: 'InvalidConfiguration', facts: { detail } })
    const opening = () => openOwnCertificate({ files: files(), log })
    await expect(opening()).rejects.toMatchObject(refusal('cannot be read'))
    const first = await bring()
    await bring()
    writeFileSync(files().cert, first.cert)
    await expect(opening()).rejects.toMatchObject(refusal('has the key of another'))
    await bring(Date.now() - 400 * dayMs)
    await expect(opening()).rejects.toMatchObject(refusal('has expired'))
  })
})
