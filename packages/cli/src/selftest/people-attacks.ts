import { connect as connectPlain } from 'node:net'
import { connect } from 'node:tls'
import { routes } from '@gatehouse/contract/routes'
import { permits } from '@gatehouse/contract/routes/permissions'
import { type Attempt, attempt, strays, tally, withinMs } from './attempt.ts'
import { cookieOf, type Web, webOf } from './dashboard-request.ts'
import { type Installation, invoke } from './installation.ts'
import type { Ready } from './load-agent.ts'
import { patientFetch } from './patient-fetch.ts'
import { call, raw, request } from './raw-request.ts'
import { bySize, firstOf, type SectionContext } from './section.ts'

const password = 'correct horse battery staple'
const name = 'selftest'

/** Paths that lead out of the folder of the page. */
const paths = [
  '/../../etc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '//etc/passwd',
  '/assets/..%5c..%5cgatehouse.db',
  '/%00',
  '/main.js%00.html',
  '/..;/cli-token',
]

const page = (web: Web): Attempt[] => [
  ...paths.map((path) =>
    attempt(`H11 ${path}`, async () => {
      const { status, text } = await web('GET', path)
      if (/root:|SQLite format/.test(text)) return 'the bytes of a file were sent'
      return [400, 404].includes(status) ? null : `answered ${status}`
    }),
  ),
  attempt('T12 T13 a page that would run the script of another, or be framed by it', async () => {
    const { headers } = await web('GET', '/')
    const csp = String(headers['content-security-policy'])
    if (!csp.includes("frame-ancestors 'none'")) return 'it may be framed'
    if (/script-src[^;]*'unsafe-(inline|eval)'/.test(csp) || !/default-src 'self'/.test(csp))
      return `its policy is ${csp}`
    return headers['x-content-type-options'] === 'nosniff' ? null : 'its types are guessed'
  }),
]

const handshakes = ({ run }: Ready): Attempt[] => {
  const port = Number(new URL(run.dashboard_url).port)
  const closed = async (bytes: string | Buffer): Promise<string | null> => {
    const socket = connectPlain(port, '127.0.0.1', () => socket.write(bytes))
    let said = ''
    const end = new Promise<true>((resolve) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => {
        said += chunk.toString('latin1')
      })
      socket.once('close', () => resolve(true))
    })
    const isClosed = await withinMs(end)
    socket.destroy()
    if (!isClosed) return 'the connection stayed open'
    return /^HTTP\/1\.1 [23]/.test(said) ? `answered ${said.slice(0, 40)}` : null
  }
  return [
    attempt('H12 TLS 1.1', () => {
      const options = { port, host: '127.0.0.1', rejectUnauthorized: false } as const
      const old = {
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      } as const
      return new Promise<string | null>((resolve) => {
        const socket = connect({ ...options, ...old }, () => {
          socket.destroy()
          resolve('it was accepted')
        })
        socket.on('error', () => resolve(null))
      })
    }),
    attempt('H12 HTTP without TLS', () => closed('GET / HTTP/1.1\r\nHost: x\r\n\r\n')),
    attempt('H12 bytes that are no handshake', () => closed(Buffer.alloc(600, 0x16))),
  ]
}

const setupToken = async (gate: Installation): Promise<string> => {
  const { url } = await gate.json<{ url: string }>(['setup-link'])
  return new URL(url).hash.slice('#setup='.length)
}

/** In this order: the first makes the operator, as whom the others log in. */
const logins = (context: SectionContext, gate: Installation, ready: Ready, web: Web): Attempt[] => {
  const logIn = (given: string) => web('POST', '/api/session', { body: { password: given, name } })
  return [
    attempt('T09 many who use one setup link at once', async () => {
      const token = await setupToken(gate)
      const use = async (): Promise<number> =>
        (await web('POST', '/api/setup', { body: { token, password, name } })).status
      const statuses = await tally(bySize(context, 20, 50, 50), use)
      if (statuses.get(201) !== 1) return `${statuses.get(201) ?? 0} became the first operator`
      return strays(statuses, [201, 404, 410, 429]) ?? strays(await tally(1, use), [404, 410, 429])
    }),
    attempt('T13 the cookie of a login', async () => {
      const answer = await logIn(password)
      const flags = String(answer.headers['set-cookie']?.[0]).split('; ').slice(1)
      const lacks = ['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/'].filter(
        (flag) => !flags.includes(flag),
      )
      if (flags.some((flag) => flag.startsWith('Domain'))) return 'it is sent to other hosts'
      return lacks.length === 0 ? null : `it lacks ${lacks.join(', ')}`
    }),
    attempt('T11 decisions that another site sends with the cookie', () =>
      fromElsewhere(ready, web, logIn),
    ),
    attempt('T10 many wrong passwords, and a very long one', async () => {
      const wrong = await tally(
        bySize(context, 30, 200, 200),
        async () => (await logIn('wrong')).status,
      )
      if (!wrong.has(429)) return 'none of them was too many'
      const long = await logIn('x'.repeat(1_000_000))
      return strays(wrong, [401, 429]) ?? strays(new Map([[long.status, 1]]), [400, 413, 422, 429])
    }),
  ]
}

const fromElsewhere = async (
  { run, token, userToken }: Ready,
  web: Web,
  logIn: (given: string) => ReturnType<Web>,
): Promise<string | null> => {
  const cookie = cookieOf(await logIn(password))
  const { error } = await invoke(run, token, 'filesystem.delete', { path: 'elsewhere.txt' })
  const id = String(error?.data?.['approval_id'])
  const origins: Record<string, string>[] = [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'https://127.0.0.1:1' },
    { origin: run.dashboard_url, 'sec-fetch-site': 'cross-site' },
  ]
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const headers of origins)
    for (const type of [{}, form]) {
      const sent = { headers: { cookie, ...headers, ...type } }
      const { status } = await web('POST', `/api/approvals/${id}/approve`, sent)
      if (status !== 403) return `${JSON.stringify(headers)} answered ${status}`
    }
  const honest = await web('POST', `/api/approvals/${id}/reject`, {
    headers: { cookie, origin: run.dashboard_url, 'sec-fetch-site': 'same-origin' },
    body: {},
  })
  const shown = await patientFetch(`${run.user_api_url}/api/approvals/${id}`, {
    headers: { authorization: `Bearer ${userToken}` },
  })
  const { status } = (await shown.json()) as { status: string }
  return honest.status === 200 && status === 'rejected' ? null : `the request is ${status}`
}

/** Every route with the token of a role that may not use it, on something that may or may not be there. */
const roles = (gate: Installation, { run }: Ready): Attempt[] =>
  (['viewer', 'approver'] as const).map((role) =>
    attempt(`T14 routes that are not for the role ${role}`, async () => {
      const flags = ['user-token', 'create', '--label', `selftest-${role}`, '--role', role]
      const { token } = await gate.json<{ token: string }>(flags)
      const wrong: string[] = []
      for (const [operation, { method, path, permission }] of Object.entries(routes)) {
        if (permission === 'public' || permits(role, permission)) continue
        const url = `${run.user_api_url}${path.replace(/:\w+/g, 'selftest')}`
        const { status } = await patientFetch(url, {
          method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(method === 'GET' ? {} : { body: '{}' }),
        })
        if (status !== 403) wrong.push(`${operation} answered ${status}`)
      }
      return wrong.length === 0 ? null : firstOf(wrong)
    }),
  )

const hostile = '<script>x</script>javascript:"><img src=x onerror=y>\u202e\u001b[31m\u200b'

/** Texts of an agent that a person reads on a terminal. */
const texts = (gate: Installation, { run, token }: Ready): Attempt =>
  attempt('T12 A04 control characters in what a terminal shows', async () => {
    const { error } = await invoke(run, token, 'filesystem.delete', { path: `a ${hostile}` })
    const id = String(error?.data?.['approval_id'])
    const shown = [
      await gate.cli(['approvals', 'show', id]),
      await gate.cli(['approvals', 'list']),
      await gate.cli(['audit', 'query', '--limit', '5']),
    ]
    await gate.cli(['approvals', 'reject', id, '--reason', hostile])
    shown.push(await gate.cli(['approvals', 'show', id]))
    const said = shown.map(({ stdout, stderr }) => stdout + stderr).join('')
    const raws = ['\u202e', '\u001b', '\u200b'].filter((character) => said.includes(character))
    if (raws.length > 0) return `it prints ${JSON.stringify(raws)}`
    return said.includes('<script>x</script>') ? null : 'it leaves a part out'
  })

/** Wrong tokens use up what an address may try, and no valid token with it. Last: later ones would be 429, too. */
export const wrongTokens = ({ run, token }: Ready): Attempt =>
  attempt('T01 many wrong tokens', async () => {
    const time = call('system.time', {})
    const statuses = await tally(120, async (i) => {
      const wrong = i.toString(16).padStart(64, '0')
      return (await raw(run, request({ Authorization: `Bearer ${wrong}` }, time))).status
    })
    const { status } = await raw(run, request({ Authorization: `Bearer ${token}` }, time))
    if (status !== 200) return `a valid token answered ${status}`
    if (!statuses.has(429)) return 'none of them was too many'
    return strays(statuses, [401, 429])
  })

/** Attacks on the listeners for people: the page, logins, roles, and what a terminal shows. */
export const peopleAttempts = (
  context: SectionContext,
  gate: Installation,
  ready: Ready,
): Attempt[] => {
  const web = webOf(gate, ready.run)
  return [
    ...page(web),
    ...handshakes(ready),
    ...logins(context, gate, ready, web),
    ...roles(gate, ready),
    texts(gate, ready),
  ]
}
