import {
  chmodSync,
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
import { bySize, type Finding, finding, firstOf, type SectionContext } from './section.ts'
import { random } from './seeded-random.ts'

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
  const response = await fetch(`${run.user_api_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${userToken}` },
  })
  return `${response.status} ${await response.text()}`
}

/** Times of this start and of what was asked a moment ago, which differ each time. */
const changing = /"(last_seen|last_used|verified|expires|since)\w*":("[^"]*"|\d+|null)/g

/** Answers of the service about everything that it was given, to an operator and to the agent. */
const answersOf = async (run: Run, ready: Ready): Promise<Readonly<Record<string, string>>> => {
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
  return answers
}

/** Whether the service says that something is wrong: with its log, in its health, or with who changed the policy. */
const isTold = async (run: Run, ready: Ready, { file }: KeptFile): Promise<boolean> => {
  if ((await ask(run, ready, '/api/audit/verify', 'POST')).includes('"failed"')) return true
  if (!(await ask(run, ready, '/api/status')).includes('"health":"healthy"')) return true
  const entries = await ask(run, ready, '/api/audit?limit=20')
  return /"capability":"policy\.\w+"/.test(entries) && entries.includes(basename(file))
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

/** Fault in how the service took a changed bit of this file; null for none. */
const take = async (
  gate: Installation,
  ready: Ready,
  changed: KeptFile,
  expected: Readonly<Record<string, string>>,
): Promise<string | null> => {
  let run: Run
  try {
    run = await gate.start(['--no-first-agent'])
  } catch {
    await gate.kill()
    const named = gate.output.includes(basename(changed.file))
    return named ? null : `refused without its name: ${gate.output.slice(0, 200)}`
  }
  const answers = await answersOf(run, ready)
  const other = Object.keys(expected).filter((name) => answers[name] !== expected[name])
  const wrong = other.length > 0 && !(await isTold(run, ready, changed))
  const code = await gate.stop()
  if (wrong) return `other answers of ${other.join(', ')}, and nothing is said`
  return code === 0 ? null : `ended with ${code}`
}

/** One bit of a random file is another while nothing runs: the next start refuses it, says so, or is not touched by it. */
export const damagedStarts = async (context: SectionContext): Promise<Finding> => {
  const rounds = bySize(context, 4, 60, 1_000)
  await using gate = new Installation(context.program)
  const ready = await template(gate)
  const kept = keep(gate.dataDir)
  const expected = await answersOf(await gate.start(['--no-first-agent']), ready)
  await gate.stop()
  const below = random(20_261_125)
  // Every second one is of the database, where most of the data is.
  const all = kept.filter((one) => isRead(gate.dataDir, one))
  const database = all.filter(({ file }) => file.endsWith('gatehouse.db'))
  const wrong: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const from = round % 2 === 0 ? database : all
    const one = from[below(from.length)] as KeptFile
    const [at, bit] = [below(one.bytes.length), below(8)]
    const bytes = Buffer.from(one.bytes)
    bytes[at] = (bytes[at] as number) ^ (1 << bit)
    putBack(gate.dataDir, [...kept.filter((other) => other !== one), { ...one, bytes }])
    const found = await take(gate, ready, one, expected)
    if (found !== null) wrong.push(`${relative(gate.dataDir, one.file)} at ${at}.${bit}: ${found}`)
    context.progress((round + 1) / rounds)
    context.signal.throwIfAborted()
  }
  return finding(
    'a bit that changes in the database or another file while nothing runs is never served as data',
    wrong.length === 0,
    wrong.length === 0
      ? `${rounds} of ${rounds}, refused, reported or without any effect`
      : `${wrong.length} of ${rounds}: ${firstOf(wrong)}`,
  )
}
