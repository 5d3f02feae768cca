import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { approvalAttempts } from './approval-attacks.ts'
import type { Attempt } from './attempt.ts'
import { brokenCalls } from './broken-calls.ts'
import { Bystander, unharmed } from './bystander.ts'
import { httpAttempts } from './http-attacks.ts'
import { Installation, invoke, rpc } from './installation.ts'
import { type Ready, startWithAgent } from './load-agent.ts'
import { honestMcp, mcpAttempts } from './mcp-attacks.ts'
import { patientFetch } from './patient-fetch.ts'
import { peopleAttempts, wrongTokens } from './people-attacks.ts'
import { call, raw, request } from './raw-request.ts'
import { type Finding, finding, firstOf, type SectionContext } from './section.ts'
import { socketAttempts } from './socket-attacks.ts'

/** For every agent, also those that an attack makes. */
const policy = `version: 1
rules:
  - { match: filesystem.move, tier: blocked }
  - { match: filesystem.delete, tier: approval_required }
limits:
  - { match: system.time, limit: 100000, window: 1m }
  - { match: "filesystem.*", limit: 100000, window: 1m }
`

const time = call('system.time', {})

/** A request as it goes over the wire, and the status that refuses it; or the JSON-RPC code in an answer of 200. */
export type HostileRequest = {
  readonly name: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly refused: { readonly status: number } | { readonly code: number }
}

const nested = call('system.time', {}).replace('{}', `${'['.repeat(10_000)}${']'.repeat(10_000)}`)
const params = (text: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":${text}}`

/** Cases of HTTP and JSON; each is sent with a valid token. */
export const hostileRequests: readonly HostileRequest[] = [
  ...['evil.example', 'localhost.evil.example'].map((host) => ({
    ...{ name: `H02 Host: ${host}`, headers: { Host: host }, body: time, refused: { status: 421 } },
  })),
  ...['https://evil.example', 'null', 'http://localhost:1'].map((origin) => ({
    ...{ name: `H03 Origin: ${origin}`, headers: { Origin: origin }, body: time },
    refused: { status: 403 },
  })),
  ...['text/plain', 'application/x-www-form-urlencoded', ''].map((type) => ({
    ...{ name: `H04 type "${type}"`, headers: { 'Content-Type': type }, body: time },
    refused: { status: 415 },
  })),
  {
    ...{ name: 'H08 an encoded body', headers: { 'Content-Encoding': 'gzip' }, body: time },
    refused: { status: 415 },
  },
  {
    name: 'H06 one byte over the limit',
    body: `[${time}${' '.repeat(10 * 1024 * 1024 + 1 - time.length - 2)}]`,
    refused: { status: 413 },
  },
  { name: 'J01 nested 10,000 deep', body: nested, refused: { code: -32600 } },
  {
    name: 'J02 a key twice',
    body: params('{"capability":"system.time","capability":"process.run","arguments":{}}'),
    refused: { code: -32600 },
  },
  {
    name: 'J03 a __proto__ key',
    body: params('{"capability":"system.time","arguments":{"__proto__":{"x":1}}}'),
    refused: { code: -32600 },
  },
  {
    name: 'J04 an approval that the caller claims',
    body: params('{"capability":"system.time","arguments":{},"approved":true}'),
    refused: { code: -32602 },
  },
  ...[
    ['an object', '{}'],
    ['a list', '[1]'],
    ['of a megabyte', `"${'x'.repeat(1_000_000)}"`],
    ['1e309', '1e309'],
  ].map(([what = '', id = '']) => ({
    name: `J06 an id that is ${what}`,
    body: `{"jsonrpc":"2.0","id":${id},"method":"capabilities.list"}`,
    refused: { code: -32600 },
  })),
  {
    name: 'J05 a number beyond what JSON can carry',
    body: '{"jsonrpc":"2.0","id":1,"method":"capabilities.list","params":{"n":1e400}}',
    refused: { code: -32600 },
  },
  {
    name: 'J09 a capability named constructor',
    body: call('constructor', {}),
    refused: { code: -32602 },
  },
  { name: 'J07 an empty batch', body: '[]', refused: { code: -32600 } },
  {
    name: 'J07 a batch of 101',
    body: `[${Array.from({ length: 101 }, () => time).join(',')}]`,
    refused: { code: -32600 },
  },
]

/** Fault of an answer; null where it refuses. */
export const misses = (
  { refused }: HostileRequest,
  answer: { readonly status: number; readonly head: string; readonly body: string },
): string | null => {
  if (/^access-control-/im.test(answer.head)) return 'it has Access-Control headers'
  if ('status' in refused)
    return answer.status === refused.status ? null : `answered ${answer.status}`
  const code = /"code":\s*(-?\d+)/.exec(answer.body)?.[1]
  return code === String(refused.code)
    ? null
    : `answered ${answer.status} with code ${code ?? 'none'}`
}

const onWire = ({ run, token }: Ready): Attempt[] => {
  const headers = { Authorization: `Bearer ${token}` }
  return hostileRequests.map((hostile) => ({
    name: hostile.name,
    run: async () =>
      misses(hostile, await raw(run, request({ ...headers, ...hostile.headers }, hostile.body))),
  }))
}

const tokens = ({ run, token, userToken }: Ready): Attempt[] => {
  const status = async (url: string, bearer: string): Promise<number> =>
    (await patientFetch(url, { headers: { authorization: `Bearer ${bearer}` } })).status
  const refusedBy = async (sent: string): Promise<string | null> => {
    const answer = await raw(run, request({ Authorization: `Bearer ${sent}` }, time))
    return answer.status === 401 ? null : `answered ${answer.status}`
  }
  return [
    ...[`${token}0`, token.slice(0, -1), token.toUpperCase(), 'undefined', 'null'].map(
      (wrong, i): Attempt => ({
        name: `T02 token ${i + 1} of 5 that is none`,
        run: () => refusedBy(wrong),
      }),
    ),
    { name: 'T04 a token of an operator at the gateway', run: () => refusedBy(userToken) },
    {
      name: 'T04 a token of an agent at the User API',
      async run() {
        const answered = await status(`${run.user_api_url}/api/agents`, token)
        return answered === 401 ? null : `answered ${answered}`
      },
    },
  ]
}

const files = ({ run, token, workspace }: Ready, canary: string, secret: string): Attempt[] => {
  symlinkSync(canary, join(workspace, 'link'))
  const paths = [
    '../canary.txt',
    canary,
    '/etc/passwd',
    'link',
    'a/../../canary.txt',
    '/proc/self/environ',
  ]
  const reads = paths.map(
    (path): Attempt => ({
      name: `F01/F03/F06 read of ${path === canary ? 'an absolute path' : path}`,
      async run() {
        const { result, error } = await invoke(run, token, 'filesystem.read', { path })
        if (JSON.stringify(result ?? error).includes(secret)) return 'the file outside was read'
        return result?.success === true ? 'it was read' : null
      },
    }),
  )
  const writes = ['../made.txt', '.git/config', '.GIT/hooks/x'].map(
    (path): Attempt => ({
      name: `F01/F07 write to ${path}`,
      async run() {
        const { result } = await invoke(run, token, 'filesystem.write', { path, content: 'x' })
        return result?.success === true || existsSync(join(workspace, path))
          ? 'it was written'
          : null
      },
    }),
  )
  return [...reads, ...writes]
}

const honest = async ({ run, token, workspace }: Ready): Promise<string[]> => {
  const wrong: string[] = []
  writeFileSync(join(workspace, 'inside.txt'), 'inside')
  const read = await invoke(run, token, 'filesystem.read', { path: 'inside.txt' })
  if (read.result?.success !== true) wrong.push('a file of its own cannot be read')
  for (const host of ['localhost', '127.0.0.1', 'gatehouse.localhost']) {
    const sent = request({ Authorization: `Bearer ${token}`, Host: host }, time)
    const { status } = await raw(run, sent)
    if (status !== 200) wrong.push(`Host: ${host} answered ${status}`)
  }
  const listed = await rpc(run, token, 'capabilities.list')
  if (listed.error) wrong.push('capabilities.list is refused')
  return wrong
}

type Group = { readonly what: string; readonly attempts: readonly Attempt[] }

const held = ({ what, attempts }: Group, broken: readonly string[]): Finding =>
  finding(
    what,
    broken.length === 0,
    broken.length === 0 ? `${attempts.length} of ${attempts.length}` : firstOf(broken),
  )

const faultsOf = async ({ name, run }: Attempt): Promise<readonly string[]> => {
  const wrong = await run().catch((cause: unknown) => String(cause))
  return wrong === null ? [] : [`${name}: ${wrong}`]
}

/** In an order in which none uses up what the next one needs: after so many wrong tokens an address gets 429. */
const groupsOf = async (
  context: SectionContext,
  gate: Installation,
  ready: Ready,
  { canary, secret }: { readonly canary: string; readonly secret: string },
): Promise<{ readonly inTurn: readonly Group[]; readonly beside: Group }> => {
  const other = await gate.createAgent('other')
  const http = httpAttempts(context, gate, ready)
  const sockets = socketAttempts(context, ready, other.token)
  return {
    inTurn: [
      {
        what: 'hostile requests, tokens and sessions are refused',
        attempts: [...onWire(ready), ...tokens(ready), ...mcpAttempts(ready, other.token)],
      },
      { what: 'paths that lead elsewhere are refused', attempts: files(ready, canary, secret) },
      {
        what: 'approvals can be neither claimed, changed, doubled nor outlived',
        attempts: await approvalAttempts(context, gate, ready),
      },
      {
        what: 'the listeners for people refuse other sites, roles and paths',
        attempts: peopleAttempts(context, gate, ready),
      },
      {
        what: 'broken frames, lying lengths and floods end where they came from',
        attempts: [...http.quick, ...sockets.quick, wrongTokens(ready)],
      },
      {
        what: 'calls that are cut off have their outcome in the log',
        attempts: brokenCalls(context, gate, ready),
      },
    ],
    beside: {
      what: 'clients that are slow on purpose are closed',
      attempts: [...http.slow, ...sockets.slow],
    },
  }
}

export const attacksSection = async (context: SectionContext): Promise<readonly Finding[]> => {
  await using gate = new Installation(context.program)
  const ready = await startWithAgent(gate, null)
  const file = join(gate.dataDir, 'organisation.yaml')
  writeFileSync(file, policy)
  await gate.json(['policy', 'set', file])
  const secret = `CANARY-${ready.token.slice(-12)}`
  const canary = join(gate.dataDir, 'canary.txt')
  writeFileSync(canary, secret)
  writeFileSync(join(ready.workspace, 'large.txt'), 'x'.repeat(1024 * 1024))
  await using bystander = await Bystander.begin(gate, ready.run)
  const { inTurn, beside } = await groupsOf(context, gate, ready, { canary, secret })
  const slow = Promise.all(beside.attempts.map(faultsOf))
  const all = inTurn.reduce((sum, { attempts }) => sum + attempts.length, 1)
  const findings: Finding[] = []
  let done = 0
  for (const group of inTurn) {
    const broken: string[] = []
    for (const one of group.attempts) {
      broken.push(...(await faultsOf(one)))
      done += 1
      context.progress(done / all)
      context.signal.throwIfAborted()
    }
    findings.push(held(group, broken))
  }
  findings.push(held(beside, (await slow).flat()))
  const wrong = [...(await honest(ready)), ...(await honestMcp(ready))]
  if (readFileSync(canary, 'utf8') !== secret) wrong.push('the file outside was changed')
  return [
    ...findings,
    finding(
      'the honest form of them works',
      wrong.length === 0,
      wrong.length === 0
        ? 'calls, hosts, files of its own, and both transports of MCP'
        : firstOf(wrong),
    ),
    await bystander.finding(),
    await unharmed(gate, ready),
  ]
}
