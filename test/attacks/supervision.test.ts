import { createSocket } from 'node:dgram'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cookieOf, type Web, webOf } from '../../packages/cli/src/selftest/dashboard-request.ts'
import { Installation, invoke, pause } from '../support/server.ts'
import { Siege } from './harness.ts'

const password = 'correct horse battery staple'

let siege: Siege

const web: Web = (method, path, sending) => webOf(siege.gate, siege.run)(method, path, sending)

const userApi = (path: string, token: string, init: RequestInit = {}) =>
  fetch(`${siege.run.user_api_url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })

/** A request that waits for a person. */
const askToDelete = async (path: string): Promise<string> => {
  await invoke(siege.run, siege.alpha.token, 'filesystem.write', { path, content: 'kept' })
  const held = await invoke(siege.run, siege.alpha.token, 'filesystem.delete', { path })
  return String(held.error?.data?.['approval_id'])
}

const statusOf = async (id: string): Promise<string> => {
  const { status } = await siege.gate.json<{ status: string }>(['approvals', 'show', id])
  return status
}

let setupToken = ''
const tokens: Record<'viewer' | 'approver' | 'operator', string> = {
  viewer: '',
  approver: '',
  operator: '',
}

beforeAll(async () => {
  siege = await Siege.begin()
  const made = await siege.gate.cli(['setup-link'])
  setupToken = new URL(/https:\S+#setup=\S+/.exec(made.stdout)?.[0] ?? '').hash.slice(7)
  for (const role of ['viewer', 'approver', 'operator'] as const) {
    const flags = ['user-token', 'create', '--label', `a-${role}`, '--role', role]
    tokens[role] = (await siege.gate.json<{ token: string }>(flags)).token
  }
})

afterAll(() => siege.endAndClose())

describe('the first operator and logins', () => {
  test('T09 of fifty that use the setup link at once one succeeds, and nobody after', async () => {
    const use = async () =>
      (
        await web('POST', '/api/setup', {
          body: { token: setupToken, password, name: 'ana' },
        })
      ).status
    const statuses = await Promise.all(Array.from({ length: 50 }, use))
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.every((status) => [201, 404, 410, 429].includes(status))).toBe(true)
    expect([404, 410]).toContain(await use())
    await siege.unharmed()
  })

  test('T13 the cookie is for this origin alone, and no page may frame ours', async () => {
    const answer = await web('POST', '/api/session', { body: { password, name: 'ana' } })
    const flags = String(answer.headers['set-cookie']?.[0]).split('; ').slice(1)
    expect(flags).toEqual(
      expect.arrayContaining(['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/']),
    )
    expect(flags.some((flag) => flag.startsWith('Domain'))).toBe(false)
    const page = await web('GET', '/')
    expect(String(page.headers['content-security-policy'])).toContain("frame-ancestors 'none'")
  })

  test('T11 no request from another site decides anything, with the cookie of who is logged in', async () => {
    const cookie = cookieOf(await web('POST', '/api/session', { body: { password, name: 'ana' } }))
    const id = await askToDelete('t11.txt')
    const origins: Record<string, string>[] = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'https://127.0.0.1:1' },
      { origin: siege.run.dashboard_url, 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of origins) {
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      for (const type of [{}, form]) {
        const answer = await web('POST', `/api/approvals/${id}/approve`, {
          headers: { cookie, ...headers, ...type },
        })
        expect(answer.status).toBe(403)
      }
    }
    expect(await statusOf(id)).toBe('pending')
    const honest = await web('POST', `/api/approvals/${id}/reject`, {
      headers: { cookie, origin: siege.run.dashboard_url, 'sec-fetch-site': 'same-origin' },
      body: { reason: 'no' },
    })
    expect([honest.status, await statusOf(id)]).toEqual([200, 'rejected'])
  })

  test('T10 two hundred wrong passwords at once are bounded, and so is a long one', async () => {
    const logIn = async (text: string) =>
      (await web('POST', '/api/session', { body: { password: text } })).status
    const statuses = await Promise.all(Array.from({ length: 200 }, () => logIn('wrong')))
    expect(statuses.every((status) => status === 401 || status === 429)).toBe(true)
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5)
    expect(await logIn('x'.repeat(100_000))).toBe(413)
    await siege.unharmed()
  })
})

describe('the listeners for people', () => {
  test('H02 H03 a foreign Host or Origin is refused at both, with a valid token', async () => {
    const bearer = { authorization: `Bearer ${tokens.operator}` }
    const foreign = await web('GET', '/api/status', {
      headers: { ...bearer, host: 'evil.example:7800' },
    })
    expect(foreign.status).toBe(421)
    for (const origin of ['https://evil.example', 'null', 'http://localhost:1']) {
      const answer = await web('GET', '/api/status', { headers: { ...bearer, origin } })
      expect(answer.status).toBe(403)
      expect(Object.keys(answer.headers).some((name) => name.startsWith('access-control'))).toBe(
        false,
      )
      const api = await fetch(`${siege.run.user_api_url}/api/status`, {
        headers: { ...bearer, origin },
      })
      expect(api.status).toBe(403)
    }
    const honest = await web('GET', '/api/status', { headers: bearer })
    expect(honest.status).toBe(200)
  })

  test('T04 T07 the token of an agent opens neither, wherever it says that it comes from', async () => {
    for (const headers of [
      {},
      { 'x-forwarded-for': '127.0.0.1' },
      { forwarded: 'for=127.0.0.1' },
      { 'x-real-ip': '127.0.0.1', 'tailscale-user-login': 'ana' },
    ]) {
      const given = { authorization: `Bearer ${siege.alpha.token}`, ...headers }
      expect((await web('GET', '/api/status', { headers: given })).status).toBe(401)
      const api = await fetch(`${siege.run.user_api_url}/api/status`, { headers: given })
      expect([401, 429]).toContain(api.status)
    }
  })

  test.each([
    '/../../etc/hostname',
    '/%2e%2e/%2e%2e/etc/hostname',
    '//etc/hostname',
    '/assets/..%5c..%5cgatehouse.db',
    '/%00',
    '/main.js%00.html',
    '/..;/cli-token',
  ])('H11 %s leads to no file', async (path) => {
    const answer = await web('GET', path)
    expect([400, 404]).toContain(answer.status)
    expect(answer.text).not.toContain('SQLite format')
  })

  test('H12 old TLS, plain HTTP and noise are refused, and half-open handshakes end', async () => {
    const port = Number(new URL(siege.run.dashboard_url).port)
    const old = await new Promise<string>((resolve) => {
      const socket = connect(
        {
          port,
          host: '127.0.0.1',
          rejectUnauthorized: false,
          minVersion: 'TLSv1',
          maxVersion: 'TLSv1.1',
          ciphers: 'DEFAULT@SECLEVEL=0',
        },
        () => resolve('connected'),
      )
      socket.on('error', () => resolve('refused'))
    })
    expect(old).toBe('refused')
    const closed = (bytes: string | Buffer | null) =>
      new Promise<void>((resolve) => {
        const socket = connectPlain(port, '127.0.0.1', () => {
          if (bytes !== null) socket.write(bytes)
        })
        socket.on('error', () => {})
        socket.on('data', () => {})
        socket.on('close', () => resolve())
      })
    const began = performance.now()
    await closed('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await closed(Buffer.alloc(600, 0x16))
    await Promise.all(Array.from({ length: 200 }, () => closed(null)))
    // Node's own limit is two minutes.
    expect(performance.now() - began).toBeLessThan(60_000)
    await siege.unharmed()
  })

  test('T14 a role does what it may and nothing more, also where it names another', async () => {
    const id = await askToDelete('t14.txt')
    const status = async (role: keyof typeof tokens, method: string, path: string, body = {}) =>
      (
        await userApi(path, tokens[role], {
          method,
          ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
        })
      ).status
    const agents = '/api/agents'
    expect(await status('viewer', 'GET', '/api/approvals')).toBe(200)
    expect(
      await status('viewer', 'POST', `/api/approvals/${id}/reject`, { role: 'operator' }),
    ).toBe(403)
    expect(await status('viewer', 'POST', agents, { name: 'mole' })).toBe(403)
    expect(await status('approver', 'POST', agents, { name: 'mole' })).toBe(403)
    expect(await status('approver', 'POST', `${agents}/beta/pause`)).toBe(403)
    expect(await status('approver', 'DELETE', '/api/state/beta/key')).toBe(403)
    expect(await statusOf(id)).toBe('pending')
    expect(await status('approver', 'POST', `/api/approvals/${id}/reject`)).toBe(200)
    const { agents: known } = await siege.gate.json<{ agents: { name: string }[] }>([
      'agent',
      'list',
    ])
    expect(known.map(({ name }) => name)).not.toContain('mole')
  })

  test('T05 a user token that was revoked opens nothing from then on', async () => {
    const flags = ['user-token', 'create', '--label', 'short', '--role', 'operator']
    const made = await siege.gate.json<{ id: string; token: string }>(flags)
    expect((await userApi('/api/status', made.token)).status).toBe(200)
    expect((await siege.gate.cli(['user-token', 'revoke', made.id, '--yes'])).code).toBe(0)
    expect((await userApi('/api/status', made.token)).status).toBe(401)
  })

  test('S02 a path in the name of a key leads to no other agent', async () => {
    await invoke(siege.run, siege.beta.token, 'state.set', { key: 'k', value: 'of beta' })
    for (const path of ['/api/state/alpha/..%2fbeta%2fk', '/api/state/alpha/%2e%2e%2fbeta/k']) {
      const answer = await userApi(path, tokens.viewer)
      expect([400, 404]).toContain(answer.status)
      expect(await answer.text()).not.toContain('of beta')
    }
  })
})

describe('the wake port', () => {
  const send = (datagrams: readonly (string | Buffer)[], waitMs = 300): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const answers: string[] = []
      const socket = createSocket('udp4')
      socket.on('error', reject)
      socket.on('message', (bytes) => answers.push(bytes.toString()))
      socket.bind(0, '127.0.0.1', () => {
        for (const datagram of datagrams) socket.send(datagram, siege.run.wake_port, '127.0.0.1')
        setTimeout(() => {
          socket.close()
          resolve(answers)
        }, waitMs)
      })
    })

  /** Noise before it may have used up what is read in a second; whoever wants to be heard asks again. */
  const answerTo = async (datagram: string): Promise<string> => {
    let answers: readonly string[] = []
    await until(async () => {
      answers = await send([datagram], 1_000)
      return answers.length > 0
    })
    return String(answers[0])
  }

  test('U01 what is no wake is never answered, and the gate goes on', async () => {
    const noise = Array.from({ length: 5_000 }, (_, i) => Buffer.alloc(1 + (i % 1_200), i % 256))
    expect(await send([...noise, '{}', '[]', '{"agent":1,"id":"x"}', '{"id":"only"}'])).toEqual([])
    await siege.unharmed()
  })

  test('U01 a wake is answered once; of an agent that there is not, with the same brevity', async () => {
    const known = await answerTo('{"agent":"alpha","id":"one"}')
    const unknown = await answerTo('{"agent":"nobody-here","id":"two"}')
    expect(JSON.parse(known)).toMatchObject({ id: 'one', ok: true })
    expect(JSON.parse(unknown)).toMatchObject({ id: 'two', ok: false })
    expect(unknown.length).toBeLessThanOrEqual(256)
  })

  test('U02 its own answers, sent back to it, start no loop', async () => {
    const answer = await answerTo('{"agent":"alpha","id":"three"}')
    expect(answer).toContain('three')
    expect(await send([answer, answer, answer])).toEqual([])
  })
})

describe('the command', () => {
  test('C01 names with control characters are printed escaped, and a secret is no argument', async () => {
    const hostile = 'evil\u001b[31m\u202e\nname'
    const made = await siege.gate.cli(['agent', 'create', 'shown', '--purpose', hostile])
    expect(made.code).toBe(0)
    const shown = await siege.gate.cli(['agent', 'show', 'shown'])
    expect(shown.stdout).not.toContain('\u001b')
    expect(shown.stdout).not.toContain('\u202e')
    const argument = await siege.gate.cli(['vault', 'add', 'key', 'the-secret-itself'])
    expect(argument.code).toBe(2)
    expect(argument.stderr + argument.stdout).not.toContain('the-secret-itself')
  })

  test('C01 a file of somebody else is not read aloud as configuration', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-c01-'))
    try {
      const canary = join(folder, 'shadow')
      writeFileSync(canary, 'root:CANARY-SHADOW:19000:0:99999:7:::\n')
      const tried = await siege.gate.cli(['serve', '--config', canary, '--gateway-port', '0'])
      expect(tried.code).not.toBe(0)
      expect(tried.stdout + tried.stderr).not.toContain('CANARY-SHADOW')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('C01 a token that others can read is reported, and a data directory by another name is the same', async () => {
    await using other = new Installation()
    expect((await other.cli(['agent', 'create', 'alpha'])).code).toBe(0)
    chmodSync(join(other.dataDir, 'cli-token'), 0o644)
    const told = await other.cli(['doctor'])
    expect(told.stdout + told.stderr).toContain('cli-token')
    expect(told.code).not.toBe(0)
    chmodSync(join(other.dataDir, 'cli-token'), 0o600)
    expect((await other.cli(['agent', 'list'])).code).toBe(0)
  })
})

test('the honest client beside all this noticed nothing', async () => {
  await pause(200)
  await siege.unharmed()
  expect(siege.failures).toEqual([])
})
