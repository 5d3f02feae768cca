import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { Dashboard } from './support/dashboard.ts'
import {
  api,
  createBoth,
  flags,
  type Gate,
  type Page,
  secondPid,
  startGate,
} from './support/gates.ts'
import { OwnConnection } from './support/own-connection.ts'
import type { Installation } from './support/server.ts'

const script = fileURLToPath(new URL('../scripts/verify_audit.py', import.meta.url))

type Health = {
  readonly reasons: readonly string[]
  readonly components: {
    readonly gateway: object
    readonly audit: { readonly entries: number }
  }
}

/** While the second process is down, and cannot start before it has its key again. */
const whileDown = async (here: Gate, work: () => Promise<void>): Promise<void> => {
  const key = join(here.gate.dataDir, 'gates/1/audit/audit.key')
  const kept = readFileSync(key, 'utf8')
  writeFileSync(key, 'no key')
  process.kill(secondPid(here), 'SIGKILL')
  const integrity = async () => (await api<Page>(here, 'POST', '/api/audit/verify')).integrity
  await expect.poll(integrity).toBe('incomplete')
  const reasons = async () => (await api<Health>(here, 'GET', '/api/health')).reasons.join()
  await expect.poll(reasons).toContain('it does not start: ')
  await work()
  writeFileSync(key, kept)
  await expect.poll(integrity).toBe('verified')
}

/** Witnesses of each kind, as the settings name them, and what they got of roots over all logs. */
const openWitnesses = async ({ dataDir }: Installation) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-witnesses-'))
  const [bare, parts] = [join(folder, 'witness.git'), join(folder, 'parts')]
  mkdirSync(parts)
  execFileSync('git', ['init', '--quiet', '--bare', bare])
  const posted: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => {
      text += piece.toString()
    })
    request.on('end', () => {
      posted.push(text)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  writeFileSync(
    join(dataDir, 'gatehouse.yaml'),
    `outbound: { private_targets: ["127.0.0.1:${port}"] }
audit:
  targets:
    - { name: parts, kind: files, folder: "${parts}" }
    - { name: git, kind: git, remote: "${bare}", branch: main }
    - { name: url, kind: url, url: "http://127.0.0.1:${port}/roots" }
`,
  )
  const rootIn = (texts: readonly string[]) => texts.join('\n').includes('gatehouse/heads/node-')
  const inGit = () =>
    spawnSync('git', ['-C', bare, 'grep', '-h', '', 'main'], { encoding: 'utf8' }).stdout
  return {
    /** Text of the branch, once each of them has a root. */
    async root(): Promise<string> {
      const files = () => readdirSync(parts).map((name) => readFileSync(join(parts, name), 'utf8'))
      await expect
        .poll(() => [rootIn(files()), rootIn([inGit()]), rootIn(posted)])
        .toEqual([true, true, true])
      return inGit()
    },
    [Symbol.dispose]() {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The root on the page, whose note a witness keeps and compares with the logs later. */
const takeNote = async (gate: Installation): Promise<void> => {
  if (!hasProgram('chromium')) return
  await using dashboard = await Dashboard.at(gate, 'ana')
  const { page } = dashboard
  await dashboard.goTo('/audit')
  const told =
    /^Verified through entry \d+ of the log of node-\w+; nothing is wrong with the other one$/
  await page.getByText(told).waitFor()
  const card = page.getByRole('region', { name: 'One root over all logs' })
  const line = card.getByText('2 logs, all as under it')
  await line.waitFor()
  // On a phone the list begins on the first screen.
  const list = page.getByLabel('Audit entries, newest first')
  await page.setViewportSize({ width: 390, height: 844 })
  expect((await list.boundingBox())?.y).toBeLessThan(600)
  await page.setViewportSize({ width: 1280, height: 900 })
  await line.click()
  const saved = page.waitForEvent('download')
  await card.getByRole('button', { name: 'Download the note' }).click()
  const note = await (await saved).path()
  expect(readFileSync(note, 'utf8')).toMatch(/^gatehouse\/heads\/node-[0-9a-f]{12}\n2\n/)
  expect(await gate.json(['audit', 'verify', '--checkpoint', note])).toMatchObject({
    integrity: 'verified',
  })
  expect(await dashboard.overhang()).toBe(0)
  expect(await dashboard.axeFindings()).toEqual([])
}

test('a log that cannot be asked, or was shortened, is named and not passed for a verified one', async () => {
  await using here = await startGate()
  const { b, tokenB } = await createBoth(here)
  using ofB = new OwnConnection(here.run)
  for (let at = 0; at < 3; at += 1) await ofB.invoke(tokenB, 'agent.whoami')
  const entries = async () =>
    (await api<Health>(here, 'GET', '/api/health')).components.audit.entries
  const all = await entries()
  const processesOf = async () => {
    const { gate_processes } = await api<{ gate_processes: unknown }>(here, 'GET', '/api/status')
    const { components } = await api<Health>(here, 'GET', '/api/health')
    expect(components.gateway).toMatchObject({ gate_processes })
    const { stdout } = await here.gate.cli(['status'])
    return [gate_processes, /^Gate processes +(.*)$/m.exec(stdout)?.[1]]
  }
  // One that does not say for two seconds how it is counts as down meanwhile.
  await expect.poll(processesOf).toEqual([{ count: 2, down: [] }, '2, all serving'])
  await using dashboard = hasProgram('chromium') ? await Dashboard.at(here.gate, 'bea') : null
  const sees = async (text: string): Promise<void> => {
    if (!dashboard) return
    await until(async () => {
      await dashboard.goTo('/overview')
      await dashboard.loaded()
      return dashboard.page.getByText(text).isVisible()
    })
  }
  await sees('2 gate processes, all serving')
  await whileDown(here, async () => {
    await sees('1 of 2 gate processes serving; down: 2')
    expect(await processesOf()).toEqual([{ count: 2, down: [2] }, '1 of 2 serving; down: 2'])
    const time = expect.stringMatching(/^20\d\d-/) as string
    const down = { log: 'gate process 2', since: time }
    const fault = expect.stringMatching(
      /gate process 2 does not serve: it .*, and is started again/,
    ) as string
    expect(
      await api<Page>(here, 'GET', `/api/audit?agent=${b}&capability=agent.whoami`),
    ).toMatchObject({
      total: 3,
      integrity: 'incomplete',
      unchecked: [{ ...down, reason: fault }],
    })
    const verified = await here.gate.cli(['audit', 'verify'])
    expect(verified.code).not.toBe(0)
    expect(verified.stdout).toMatch(/^NOT EVERY LOG COULD BE CHECKED\.\n/)
    expect(verified.stdout).toContain('audit.key: not an Ed25519 key, and is started again')
    expect(verified.stdout).toMatch(/^Not checked +the log of gate process 2, since 20/m)
    const audit = {
      status: 'degraded',
      reason: expect.stringContaining(
        'the log of gate process 2 could not be checked since 20',
      ) as string,
    }
    expect(await api<Health>(here, 'GET', '/api/health')).toMatchObject({ components: { audit } })
    expect(await entries()).toBeGreaterThanOrEqual(all)
    // It does what it can: of the process that is there.
    for (const method of ['GET', 'POST'])
      expect(await api(here, method, '/api/audit/retention')).toMatchObject({ left_out: [down] })
    expect((await here.gate.cli(['audit', 'retention'])).stdout).toMatch(
      /^Left out +the log of gate process 2, since 20/m,
    )
    const pass = join(here.gate.dataDir, 'passphrase')
    writeFileSync(pass, 'correct horse battery staple\n')
    const made = ['backup', join(here.gate.dataDir, 'all.backup'), '--passphrase-file', pass]
    expect(await here.gate.cli(made)).toMatchObject({ code: 0 })
    const reason = { reason: 'a test' }
    expect(await api(here, 'POST', '/api/audit/acknowledge', reason)).toMatchObject({
      integrity: 'incomplete',
    })
    expect(await api(here, 'POST', '/api/audit/reindex')).toMatchObject({
      integrity: 'incomplete',
    })
  })
  expect(await here.gate.stop()).toBe(0)
  // The log and all that the second process sealed over it is put back to its beginning.
  const folder = join(here.gate.dataDir, 'gates/1/audit')
  for (const name of ['audit.head', 'checkpoints.log']) rmSync(join(folder, name))
  for (const name of readdirSync(join(folder, 'segments')))
    if (name.endsWith('.log')) truncateSync(join(folder, 'segments', name), 4_096)

  const run = await here.gate.start(flags)
  const again = { gate: here.gate, run }
  expect(await api(again, 'POST', '/api/audit/verify')).toMatchObject({
    integrity: 'failed',
    kind: 'truncated',
    detail: expect.stringMatching(/the log of node-[0-9a-f]{12} is gone, up to the head/) as string,
  })
  expect(await api(again, 'POST', '/api/audit/acknowledge', { reason: 'a test' })).toMatchObject({
    integrity: 'verified',
  })
  // The log that is empty now gets an entry, and the end makes a root over both.
  using anew = new OwnConnection(run)
  await anew.invoke(tokenB, 'agent.whoami')
  const root = { logs: 2, root: expect.stringMatching(/^sha256:/) as string }
  expect(await here.gate.stop()).toBe(0)
  using witnesses = await openWitnesses(here.gate)
  const both = { gate: here.gate, run: await here.gate.start(flags) }
  expect(await api<Page>(both, 'GET', '/api/audit')).toMatchObject({ integrity: 'verified', root })
  const file = join(here.gate.dataDir, 'export.jsonl')
  await here.gate.cli(['audit', 'export', '--output', file])
  expect(await here.gate.json(['audit', 'verify', '--export', file])).toMatchObject({ root })
  const python = spawnSync('python3', [script, file], { encoding: 'utf8' })
  if (!python.error) expect(JSON.parse(python.stdout)).toMatchObject({ root })

  await takeNote(here.gate)

  // An entry of either log is proved to somebody who has the key of the first alone.
  const [of] = (await api<Page>(both, 'GET', `/api/audit?agent=${b}&limit=1`)).entries
  const proof = join(here.gate.dataDir, 'proof.json')
  writeFileSync(proof, (await here.gate.cli(['audit', 'prove', of?.id ?? ''])).stdout)
  const key = ['--public-key', join(here.gate.dataDir, 'audit/audit.pub')]
  expect(await here.gate.json(['audit', 'check-proof', proof, ...key])).toMatchObject({
    valid: true,
    entry: { agent: b },
    all_logs: { logs: 2 },
  })

  // What a witness has of all logs is as they are.
  const kept = join(here.gate.dataDir, 'kept.txt')
  writeFileSync(kept, await witnesses.root())
  expect((await here.gate.cli(['audit', 'verify'])).stdout).toMatch(
    /^Verified through +\d+, of the log of node-\w+\nOther logs +1, and nothing is wrong$/m,
  )
  const compare = ['audit', 'verify', '--checkpoint', kept]
  expect(await here.gate.json(compare)).toMatchObject({ integrity: 'verified', root })

  // One that is gone as a whole, with its keys, is missed too.
  expect(await here.gate.stop()).toBe(0)
  rmSync(join(here.gate.dataDir, 'gates'), { recursive: true })
  await here.gate.start(['--no-first-agent'])
  expect((await here.gate.cli(['status'])).stdout).not.toContain('Gate processes')
  const verified = await here.gate.cli(['audit', 'verify', '--json'])
  expect(verified.code).not.toBe(0)
  expect(JSON.parse(verified.stdout)).toMatchObject({
    integrity: 'failed',
    kind: 'truncated',
    detail: expect.stringMatching(/^the log of node-[0-9a-f]{12} is gone/) as string,
  })
  // Before the folders go that it exports to.
  await here.gate.kill()
})
