import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesBelow } from './support/files-below.ts'
import { openReflector, type Reflector } from './support/reflector.ts'
import { Installation, invoke, type Run } from './support/server.ts'

const count = 40
const canaries = Array.from({ length: count }, (_, i) => ({
  name: `canary_${i}`,
  // Values with everything that encodings differ in: signs, spaces, quotes and letters beyond ASCII.
  value: `CANARY-SEC-${randomBytes(9).toString('base64')}/+ "${i}" <&>'\\ü%41`,
}))
const passphrase = 'correct horse battery'

const hex = (text: string) => Buffer.from(text).toString('hex')
const base64 = (text: string, offset = 0) =>
  Buffer.from(`${'x'.repeat(offset)}${text}`).toString('base64')

/** Spellings of a value that a host may say back. */
const spellings = (value: string): readonly string[] => [
  value,
  value.toUpperCase(),
  JSON.stringify(value),
  JSON.stringify({ deep: JSON.stringify({ value }) }),
  encodeURIComponent(value),
  new URLSearchParams({ a: value }).toString(),
  hex(value),
  hex(value).toUpperCase(),
  ...[0, 1, 2].map((offset) => base64(value, offset)),
  Buffer.from(value).toString('base64url'),
  base64(value).replace(/.{16}/g, '$&\r\n'),
]
/** Pieces of each spelling that a byte grep looks for: enough to turn it back by hand. */
const pieces = (value: string): readonly string[] => [
  value.slice(11, 23),
  value.slice(11, 23).toUpperCase(),
  hex(value).slice(20, 44),
  hex(value).toUpperCase().slice(20, 44),
  ...[0, 1, 2].map((offset) => base64(value, offset).slice(16, 28)),
]
const needles = canaries.flatMap(({ value }) => pieces(value))

const hitsIn = (where: string, text: string | Buffer): string[] =>
  needles.filter((needle) => text.includes(needle)).map((needle) => `${where} holds ${needle}`)

const hitsBelow = (folder: string): string[] =>
  [...filesBelow(folder)].flatMap(({ path, bytes }) => hitsIn(path, bytes))

/** Says back what it was sent, in every way the path asks for. */
const reflect: RequestListener = (request, response) => {
  const value = request.headers['x-key'] as string
  const body = spellings(value).join('\n--\n')
  const mode = new URL(request.url ?? '/', 'https://x').pathname.slice(1)
  if (mode === 'gzip') {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
    response.end(gzipSync(body))
  } else if (mode === 'bytes') {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.end(Buffer.concat([Buffer.from([0, 255, 254]), Buffer.from(body)]))
  } else if (mode === 'chunks') {
    response.writeHead(200, { 'content-type': 'text/plain' })
    for (const byte of Buffer.from(value)) response.write(Buffer.of(byte))
    response.end()
  } else if (mode === 'headers') {
    response.writeHead(200, {
      'x-back': hex(value),
      'set-cookie': `t=${encodeURIComponent(value)}`,
      [`x-${hex(value)}`]: 'name',
    })
    response.end(body)
  } else if (mode === 'redirect') {
    response.writeHead(302, { location: `/plain?t=${encodeURIComponent(value)}` })
    response.end()
  } else if (mode === 'elsewhere') {
    response.writeHead(302, { location: `https://${hex(value).slice(0, 40)}.example/` })
    response.end()
  } else response.end(body)
}

const policy = `version: 1
rules:
  - { match: network.credentialed_request, tier: autonomous }
limits:
  - { match: "network.*", limit: 100000, window: 1m }
`

describe('forty canaries', () => {
  const gate = new Installation()
  let reflector: Reflector
  let run: Run
  let agent: { token: string; workspace: string }
  const seen: string[] = []

  const cli = async (args: readonly string[], input?: string) => {
    const answer = await gate.cli(args, input)
    seen.push(answer.stdout, answer.stderr)
    return answer
  }
  const must = async (answer: ReturnType<typeof cli>) => {
    const { code, stderr } = await answer
    if (code !== 0) throw new Error(stderr)
  }
  const call = async (capability: string, args: object) => {
    const answer = await invoke(run, agent.token, capability, args)
    seen.push(JSON.stringify(answer))
    return answer
  }
  const send = (secret_name: string, mode: string) =>
    call('network.credentialed_request', {
      url: `${reflector.url}/${mode}`,
      secret_name,
      placement: 'header:X-Key',
    })

  beforeAll(async () => {
    reflector = await openReflector(reflect)
    mkdirSync(gate.dataDir, { recursive: true })
    writeFileSync(
      join(gate.dataDir, 'gatehouse.yaml'),
      `outbound:\n  ca_file: ${reflector.caFile}\n  private_targets: ["127.0.0.1:${reflector.port}"]\n`,
    )
    run = await gate.start(['--no-first-agent'])
    agent = await gate.createAgent('alpha')
    await gate.createAgent('beta')
    const file = join(gate.dataDir, 'o.yaml')
    writeFileSync(file, policy)
    await must(cli(['policy', 'set', file]))
    const token = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()
    const first = canaries[0] as (typeof canaries)[0]
    const scope = ['--capability=network.credentialed_request', '--agent=alpha']
    const host = `--host=127.0.0.1:${reflector.port}`
    await must(cli(['vault', 'add', first.name, ...scope, host], `${first.value}\n`))
    for (const { name, value } of canaries.slice(1)) {
      const response = await fetch(`${run.user_api_url}/api/vault/secrets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          name,
          value,
          capabilities: ['network.credentialed_request'],
          hosts: [`127.0.0.1:${reflector.port}`],
          agents: ['alpha'],
        }),
      })
      seen.push(await response.text())
      if (response.status !== 201) throw new Error(seen.at(-1))
    }
  })

  afterAll(async () => {
    await gate[Symbol.asyncDispose]()
    await reflector[Symbol.asyncDispose]()
  })

  test('reach the host that they are for, and come back blacked out', async () => {
    for (const { name, value } of canaries) {
      const answer = await send(name, 'plain')
      expect(answer.result).toMatchObject({ success: true })
      expect(answer.result?.data?.['body']).toContain(`[secret:${name}]`)
      expect(reflector.received.at(-1)).toBe(value)
    }
  })

  test.each(['gzip', 'bytes', 'chunks', 'headers', 'redirect', 'elsewhere'])(
    'come back in no way: %s',
    async (mode) => {
      for (const { name, value } of canaries.slice(0, 6)) {
        const text = JSON.stringify(await send(name, mode))
        for (const piece of pieces(value)) expect(text).not.toContain(piece)
      }
    },
  )

  test('are refused elsewhere, to others and locked, with nothing of them in any error', async () => {
    const { name } = canaries[0] as (typeof canaries)[0]
    const secret_name = name
    for (const url of [
      `https://127.0.0.1:${reflector.port + 1}/`,
      `http://127.0.0.1:${reflector.port}/`,
      `https://localhost:${reflector.port}/`,
    ]) {
      const { result } = await call('network.credentialed_request', { url, secret_name })
      expect(result).toMatchObject({ success: false })
    }
    const own = `${reflector.url}/plain`
    const [absent, denied] = await Promise.all(
      ['nothing_at_all', 'canary_1'].map(async (given) => {
        if (given === 'canary_1') await cli(['vault', 'scope', given, '--agent', 'beta'])
        const { result } = await call('network.credentialed_request', {
          url: own,
          secret_name: given,
        })
        return JSON.stringify(result).replaceAll(given, 'NAME')
      }),
    )
    expect(absent).toBe(denied)
    expect(absent).toContain('SecretNotAllowed')
    expect(await cli(['vault', 'lock'])).toMatchObject({ code: 0 })
    expect((await send(name, 'plain')).result?.error).toMatchObject({ type: 'VaultLocked' })
    expect((await call('system.time', {})).result).toMatchObject({ success: true })
    expect(await gate.json(['status'])).toMatchObject({ health: 'degraded' })
    expect(await cli(['vault', 'unlock'])).toMatchObject({ code: 0 })
    expect((await send(name, 'plain')).result).toMatchObject({ success: true })
  })

  test('stand nowhere: answers, log, audit, database, backup, environment, command line', async () => {
    for (const line of [
      ['audit', 'query', '--limit', '1000', '--json'],
      ['audit', 'export', '--output', join(gate.dataDir, 'export.jsonl')],
      ['vault', 'list', '--json'],
      ['vault', 'show', 'canary_2'],
      ['alerts', 'list', '--json'],
      ['vault', 'rotate-key'],
    ])
      expect(await cli(line)).toMatchObject({ code: 0 })
    const backup = join(gate.dataDir, 'made.backup')
    expect(await cli(['backup', backup], `${passphrase}\n`)).toMatchObject({ code: 0 })
    const children = readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .flatMap((pid) => {
        try {
          const [, parent] =
            /^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
          return parent === String(run.pid) ? [pid] : []
        } catch {
          return []
        }
      })
    const processes = [String(run.pid), ...children].flatMap((pid) =>
      ['environ', 'cmdline'].flatMap((file) =>
        hitsIn(`${file} of ${pid}`, readFileSync(`/proc/${pid}/${file}`)),
      ),
    )
    expect([
      ...hitsIn('an answer', seen.join('\n')),
      ...hitsIn('the output', gate.output),
      ...hitsBelow(gate.dataDir),
      ...processes,
    ]).toEqual([])
    // The search finds what is there.
    const { value } = canaries[7] as (typeof canaries)[0]
    expect(hitsIn('the test itself', `x${value}y`)).not.toEqual([])
  })

  test('work again where a backup is restored, and open there with nothing else', async () => {
    const backup = join(gate.dataDir, 'made.backup')
    await using there = new Installation()
    rmSync(there.dataDir, { recursive: true })
    await gate.stop()
    expect(await there.cli(['restore', backup, '--yes'], `${passphrase}\n`)).toMatchObject({
      code: 0,
    })
    expect(statSync(join(there.dataDir, 'vault.key')).mode & 0o777).toBe(0o600)
    run = await there.start()
    expect((await send('canary_3', 'plain')).result).toMatchObject({ success: true })
    expect(reflector.received.at(-1)).toBe(canaries[3]?.value)
    expect(hitsIn('an answer', seen.join('\n'))).toEqual([])
    expect(hitsBelow(there.dataDir)).toEqual([])
  })
})

test('a passphrase keeps secrets closed after a start, with and without a server', async () => {
  await using gate = new Installation()
  const secret = 'a value of some length'
  const add = (name: string, more: readonly string[] = []) =>
    gate.cli(['vault', 'add', name, '--capability=git.*', '--agent=*', ...more], `${secret}\n`)
  expect(await gate.cli(['vault', 'passphrase'], `${passphrase}\n`)).toMatchObject({ code: 0 })
  expect(readdirSync(gate.dataDir)).not.toContain('vault.key')
  const file = join(gate.dataDir, 'p.txt')
  writeFileSync(file, `${passphrase}\n`, { mode: 0o600 })
  expect(await add('first', ['--passphrase-file', file])).toMatchObject({ code: 0 })
  await gate.start(['--no-first-agent'])
  expect(await gate.json(['status'])).toMatchObject({ health: 'degraded' })
  expect(await gate.cli(['vault', 'unlock'], `${passphrase}\n`)).toMatchObject({ code: 0 })
  await gate.stop()
  await gate.start(['--no-first-agent', '--vault-passphrase-file', file])
  expect(await gate.json(['vault', 'status'])).toMatchObject({ locked: false })
  // Each passphrase takes 256 MiB and a while; the rest of the way is walked where there is time.
  if (process.env['GATEHOUSE_FULL'] !== '1') return
  expect(await gate.cli(['vault', 'lock'])).toMatchObject({ code: 0 })
  expect(await add('second')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The vault is locked'),
  })
  expect(await gate.cli(['vault', 'unlock'], 'wrong horse battery\n')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('not the passphrase'),
  })
  expect(await gate.cli(['vault', 'unlock'], `${passphrase}\n`)).toMatchObject({ code: 0 })
  expect(await add('second')).toMatchObject({ code: 0 })
  expect(await gate.cli(['vault', 'passphrase', '--remove'], `${passphrase}\n`)).toMatchObject({
    code: 0,
  })
  await gate.stop()
  expect(await gate.json(['vault', 'status'])).toEqual({
    status: 'healthy',
    integrity: 'verified',
    tampered: [],
    locked: false,
    mode: 'key_file',
    secrets: 2,
    reason: null,
    remedy: null,
  })
})
