import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { Installation, invoke, type Run } from './support/server.ts'

type Answer = { readonly status: number; readonly text: string; readonly cookie: string }

/** A browser that has come to trust the authority of the installation, and no other. */
const browse =
  (run: Run, dataDir: string) =>
  (method: string, path: string, cookie = '', body?: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { origin, hostname, port } = new URL(run.dashboard_url)
      const ca = readFileSync(join(dataDir, 'tls', 'ca.pem'), 'utf8')
      const text = JSON.stringify(body ?? {})
      const headers = {
        origin,
        ...(cookie === '' ? {} : { cookie }),
        ...(body
          ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
          : {}),
      }
      const sent = request({ hostname, port, ca, method, path, headers }, (message) => {
        let received = ''
        message.on('data', (chunk) => {
          received += String(chunk)
        })
        message.on('end', () => {
          const set = message.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? ''
          resolve({ status: message.statusCode ?? 0, text: received, cookie: set })
        })
      })
      sent.on('error', reject)
      sent.end(body ? text : undefined)
    })

/** The token of the link that the server prints: a moment after run.json says that it listens. */
const printedToken = async (installation: Installation): Promise<string> => {
  const [link] = await until(() => /https:\S+#setup=\S+/.exec(installation.output))
  return new URL(link).hash.replace('#setup=', '')
}

test('a person sets up, logs in, and lets what an agent asked for happen', async () => {
  await using installation = new Installation()
  const run = await installation.start()
  const send = browse(run, installation.dataDir)
  const token = await printedToken(installation)
  expect((await send('GET', '/')).text).toContain('<title>Gatehouse</title>')

  const password = 'correct horse battery'
  const made = await send('POST', '/api/setup', '', { token, password, name: 'ana' })
  expect(made.status).toBe(201)
  expect((await send('POST', '/api/setup', '', { token, password })).status).toBe(410)
  const { cookie } = await send('POST', '/api/session', '', { password })

  const agent = await installation.createAgent('mailbot')
  await invoke(run, agent.token, 'filesystem.write', { path: 'notes.txt', content: 'kept' })
  const held = await invoke(run, agent.token, 'filesystem.delete', { path: 'notes.txt' })
  const id = String(held.error?.data?.['approval_id'])
  const shown = await send('GET', '/api/approvals', cookie)
  const { approvals } = JSON.parse(shown.text) as { approvals: { id: string; digest: string }[] }
  expect(approvals.map((approval) => approval.id)).toEqual([id])
  const { digest } = approvals[0] ?? { digest: '' }
  expect((await send('POST', `/api/approvals/${id}/approve`, cookie, { digest })).status).toBe(200)
  const log = await send('GET', '/api/audit?capability=operator.*', cookie)
  const { entries, integrity } = JSON.parse(log.text) as {
    entries: { capability: string }[]
    integrity: string
  }
  expect(entries.map(({ capability }) => capability)).toEqual([
    'operator.logged_in',
    'operator.created',
  ])
  expect(integrity).toBe('verified')

  const fingerprint = await installation.json<{ fingerprint: string }>(['tls', 'fingerprint'])
  expect(await installation.stop()).toBe(0)
  const again = await installation.start()
  expect(installation.output).not.toContain('#setup=')
  const after = browse(again, installation.dataDir)
  expect((await after('GET', '/api/session', cookie)).status).toBe(200)
  expect(await installation.json(['tls', 'fingerprint'])).toEqual(fingerprint)
  for (const secret of [token, password, cookie.split('=')[1] ?? 'x'])
    expect(readFileSync(join(installation.dataDir, 'gatehouse.db')).includes(secret)).toBe(false)
})

test('a link that nobody used is replaced at the next start and by a command', async () => {
  await using installation = new Installation()
  await installation.start()
  const first = await printedToken(installation)
  await installation.stop()
  const run = await installation.start()
  const second = await printedToken(installation)
  expect(second).not.toBe(first)
  const { url } = await installation.json<{ url: string }>(['setup-link'])
  expect(new URL(url).port).toBe(new URL(run.dashboard_url).port)
  const third = new URL(url).hash.replace('#setup=', '')
  const send = browse(run, installation.dataDir)
  const use = async (token: string) =>
    (await send('POST', '/api/setup', '', { token, password: 'correct horse battery' })).status
  expect([await use(first), await use(second), await use(third)]).toEqual([410, 410, 201])
  expect(await installation.cli(['setup-link'])).toMatchObject({ code: 1 })
})

test('a password is set on the machine itself, with a server and without', async () => {
  await using installation = new Installation()
  const set = (password: string) => installation.cli(['operator', 'set-password'], `${password}\n`)
  expect((await set('correct horse battery')).stdout).toContain('can now log in')
  const run = await installation.start()
  const send = browse(run, installation.dataDir)
  const logIn = async (password: string) =>
    (await send('POST', '/api/session', '', { password })).status
  expect(await logIn('correct horse battery')).toBe(201)
  expect((await set('another horse battery')).stdout).toContain('new password')
  expect([await logIn('correct horse battery'), await logIn('another horse battery')]).toEqual([
    401, 201,
  ])
  expect((await set('password123')).code).toBe(2)
})
