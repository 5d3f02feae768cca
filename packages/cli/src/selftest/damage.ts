import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { Installation, invoke, type Run, rpc } from './installation.ts'
import { makeEntries, type Ready, startWithAgent } from './load-agent.ts'
import { patientFetch } from './patient-fetch.ts'
import { bySize, type Finding, finding, firstOf, type SectionContext } from './section.ts'
import { random } from './seeded-random.ts'
import { seenCertificate } from './seen-certificate.ts'

const policy = `version: 1
rules:
  - { match: filesystem.delete, tier: approval_required }
  - { match: filesystem.move, tier: blocked }
limits:
  - { match: system.time, limit: 100, window: 1h }
`

type KeptFile = { readonly file: string; readonly bytes: Buffer; readonly mode: number }

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })

const keep = (dataDir: string): KeptFile[] =>
  filesBelow(dataDir).map((file) => ({
    file,
    bytes: readFileSync(file),
    mode: statSync(file).mode,
  }))

const putBack = (dataDir: string, kept: readonly KeptFile[]): void => {
  for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true })
  for (const { file, bytes, mode } of kept) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, bytes)
    chmodSync(file, mode)
  }
}

/** Files that nothing is read from: made anew at each start, the agent's own, or those of the lock. */
const isRead = (dataDir: string, { file, bytes }: KeptFile): boolean =>
  bytes.length > 0 &&
  !/^(sandbox|workspaces)\/|^lock\.|^selftest\.yaml/.test(relative(dataDir, file))

const ask = async (run: Run, { userToken }: Ready, path: string, method = 'GET') => {
  const response = await patientFetch(`${run.user_api_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${userToken}` },
  })
  return `${response.status} ${await response.text()}`
}

/** Times of this start and of what was asked a moment ago, which differ each time. */
const changing = /"(last_seen|last_used|verified|expires|since)\w*":("[^"]*"|\d+|null)/g

/** Files that nothing else in the data directory would speak against: a bit of them may not pass unseen. */
const isGuarded = (dataDir: string, { file }: KeptFile): boolean =>
  /^(tls\/|audit\/(audit-redaction\.key|audit\.pub|checkpoints\.log))/.test(relative(dataDir, file))

/** Files that are for others to read, as they were when the template was made. */
const published = (dataDir: string, kept: readonly KeptFile[]): string =>
  kept
    .filter(({ file }) => /(audit\.pub|checkpoints\.log)$/.test(file))
    .map(({ file, bytes }) => {
      const now = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
      // The service adds checkpoints at the end.
      return `${relative(dataDir, file)} ${now.subarray(0, bytes.length).equals(bytes)}`
    })
    .join()

/** Answers of the service about everything that it was given, to an operator, the agent, and those outside. */
const answersOf = async (
  { dataDir }: Installation,
  run: Run,
  ready: Ready,
  kept: readonly KeptFile[],
): Promise<Readonly<Record<string, string>>> => {
  const answers: Record<string, string> = {}
  for (const noun of [
    ...['agents', 'approvals', 'policies', 'state/selftest', 'vault/secrets', 'user-tokens'],
  ])
    answers[noun] = (await ask(run, ready, `/api/${noun}`)).replace(changing, '')
  const { token } = ready
  const calls = [
    rpc(run, token, 'capabilities.list'),
    invoke(run, token, 'state.get', { key: 'kept' }),
    invoke(run, token, 'filesystem.move', { from: 'a', to: 'b' }),
  ]
  answers['calls'] = JSON.stringify(await Promise.all(calls))
  const authority = kept.find(({ file }) => file.endsWith('tls/ca.pem'))
  if (authority) answers['certificate'] = await seenCertificate(run.dashboard_url, authority.bytes)
  answers['published files'] = published(dataDir, kept)
  return answers
}

/** Whether the log of the start warns of this file. */
const isWarnedOf = (output: string, { file }: KeptFile): boolean =>
  output
    .split('\n')
    .some((line) => /"level":"?(warn|error|40|50)/.test(line) && line.includes(basename(file)))

/**
 * Whether the service says that something is wrong: at its start, with its log, in its health, or with who changed the
 * policy.
 */
const isTold = async (
  { output }: Installation,
  run: Run,
  ready: Ready,
  changed: KeptFile,
): Promise<boolean> => {
  if (isWarnedOf(output, changed)) return true
  if ((await ask(run, ready, '/api/audit/verify', 'POST')).includes('"failed"')) return true
  if (!(await ask(run, ready, '/api/status')).includes('"health":"healthy"')) return true
  const entries = await ask(run, ready, '/api/audit?limit=20')
  return /"capability":"policy\.\w+"/.test(entries) && entries.includes(basename(changed.file))
}

const template = async (gate: Installation): Promise<Ready> => {
  const ready = await startWithAgent(gate, policy)
  const { run, token } = ready
  for (let i = 0; i < 30; i += 1)
    await invoke(run, token, 'state.set', { key: `key-${i}`, value: `value ${i} `.repeat(50) })
  await invoke(run, token, 'state.set', { key: 'kept', value: 'what the agent keeps' })
  await invoke(run, token, 'filesystem.delete', { path: 'a.txt' })
  await gate.cli(['vault', 'add', 'selftest_secret'], 'a secret of the selftest 0123456789\n')
  await makeEntries(ready, 100)
  await gate.stop()
  return ready
}

type Outcome = 'refused by name' | 'reported' | 'without effect' | { readonly fault: string }

type Template = {
  readonly ready: Ready
  readonly kept: readonly KeptFile[]
  readonly expected: Readonly<Record<string, string>>
}

/** How the service took a changed bit of this file. */
const take = async (
  gate: Installation,
  { ready, kept, expected }: Template,
  changed: KeptFile,
): Promise<Outcome> => {
  let run: Run
  try {
    run = await gate.start(['--no-first-agent'])
  } catch {
    await gate.kill()
    return gate.output.includes(basename(changed.file))
      ? 'refused by name'
      : { fault: `refused without its name: ${gate.output.slice(0, 200)}` }
  }
  let answers: Readonly<Record<string, string>>
  let told: boolean
  try {
    answers = await answersOf(gate, run, ready, kept)
    told = await isTold(gate, run, ready, changed)
  } catch (cause) {
    await gate.kill()
    return { fault: `stopped answering (${String(cause)}): ${gate.output.slice(-200)}` }
  }
  const other = Object.keys(expected).filter((name) => answers[name] !== expected[name])
  const code = await gate.stop()
  if (code !== 0) return { fault: `ended with ${code}` }
  if (other.length > 0 && !told)
    return { fault: `other answers of ${other.join(', ')}, and nothing is said` }
  return told ? 'reported' : 'without effect'
}

/** Every second file is the database, where most of the data is, and every fourth a key, a certificate or the checkpoints. */
const chooser = (gate: Installation, kept: readonly KeptFile[]) => {
  const all = kept.filter((one) => isRead(gate.dataDir, one))
  const database = all.filter(({ file }) => file.endsWith('gatehouse.db'))
  const guarded = all.filter((one) => isGuarded(gate.dataDir, one))
  return (round: number, below: (end: number) => number): KeptFile => {
    if (round % 4 === 1) return guarded[((round - 1) / 4) % guarded.length] as KeptFile
    const from = round % 2 === 0 ? database : all
    return from[below(from.length)] as KeptFile
  }
}

const flip = (one: KeptFile, at: number, bit: number): KeptFile => {
  const bytes = Buffer.from(one.bytes)
  bytes[at] = (bytes[at] as number) ^ (1 << bit)
  return { ...one, bytes }
}

/** One bit of a random file is another while nothing runs: the next start refuses it, says so, or is not touched by it. */
export const damagedStarts = async (context: SectionContext): Promise<Finding> => {
  const rounds = bySize(context, 4, 60, 1_000)
  await using gate = new Installation(context.program)
  const ready = await template(gate)
  const kept = keep(gate.dataDir)
  const first = await gate.start(['--no-first-agent'])
  const from: Template = { ready, kept, expected: await answersOf(gate, first, ready, kept) }
  await gate.stop()
  const below = random(20_261_125)
  const choose = chooser(gate, kept)
  const wrong: string[] = []
  const counts = new Map<string, number>()
  for (let round = 0; round < rounds; round += 1) {
    const one = choose(round, below)
    const [at, bit] = [below(one.bytes.length), below(8)]
    putBack(gate.dataDir, [...kept.filter((other) => other !== one), flip(one, at, bit)])
    const outcome = await take(gate, from, one)
    if (typeof outcome === 'string') counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    else wrong.push(`${relative(gate.dataDir, one.file)} at ${at}.${bit}: ${outcome.fault}`)
    context.progress((round + 1) / rounds)
    context.signal.throwIfAborted()
  }
  const counted = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ')
  return finding(
    'a bit that changes in the database or another file while nothing runs is never served as data',
    wrong.length === 0,
    wrong.length === 0
      ? `${rounds} of ${rounds}: ${counted}`
      : `${wrong.length} of ${rounds}: ${firstOf(wrong)}`,
  )
}
