import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Process, ProcessLog } from '@gatehouse/contract'
import type { Kit } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { replacing } from '@gatehouse/testkit/replacing'
import { describe, expect, test } from 'vitest'
import { survivors } from '../../../../test/support/survivors.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { dataOf, failureOf, freely, openProcessKit } from './process-kit.ts'

const marked = () => `marked-${Math.random().toString(36).slice(2)}`

/** Waits until it is told to go on by a line, and says when it runs. */
const waiting = (marker: string) => ({
  command: 'perl',
  args: ['-e', `$| = 1; $0 = "${marker}"; print "ready\\n"; sleep 1000`],
  background: true,
})

const start = async (kit: Kit, args: object, agent = 'alpha') =>
  dataOf(await kit.invoke(agent, 'process.run', args)).process_id

type Monitored = Process & {
  readonly now: { readonly memory_bytes: number; readonly processes: number } | null
  readonly duration_ms: number
}
const monitor = async (kit: Kit, process_id: string) =>
  dataOf<Monitored>(await kit.invoke('alpha', 'process.monitor', { process_id }))
const logs = async (kit: Kit, process_id: string, args: object = {}) =>
  dataOf<ProcessLog>(await kit.invoke('alpha', 'process.logs', { process_id, ...args }))
/** In Perl: waits until the test has done its part. */
const untilGo = 'select(undef, undef, undef, 0.02) until -e "go"'

const written = (kit: Kit, process_id: string, text: string) =>
  expect.poll(async () => (await logs(kit, process_id)).content).toContain(text)

describe.skipIf(!hasProgram('bwrap'))('processes in the background', () => {
  test('outlive their call, are listed, watched, read and ended', async () => {
    await using kit = await openProcessKit()
    const marker = marked()
    const answer = dataOf(await kit.invoke('alpha', 'process.run', waiting(marker)))
    expect(answer).toMatchObject({ state: 'running', exit_code: null, stdout: '', stderr: '' })
    const { process_id } = answer
    await written(kit, process_id, 'ready\n')
    expect(survivors(marker)).toHaveLength(1)

    const listed = dataOf<{ processes: Process[]; total: number }>(
      await kit.invoke('alpha', 'process.list', { state: 'running' }),
    )
    expect(listed).toMatchObject({ total: 1, processes: [{ process_id, background: true }] })
    const seen = await monitor(kit, process_id)
    expect(seen).toMatchObject({
      state: 'running',
      command: 'perl',
      sandbox: 'bubblewrap',
      working_directory: kit.workspace('alpha'),
      stdout_bytes: 6,
      ended_at: null,
      now: { processes: expect.any(Number) },
    })
    expect(seen.now?.memory_bytes).toBeGreaterThan(100_000)

    const killed = await kit.invoke('alpha', 'process.kill', { process_id })
    expect(dataOf<object>(killed)).toEqual({ process_id, state: 'killed', signal_sent: 'SIGTERM' })
    expect(survivors(marker)).toEqual([])
    expect(await monitor(kit, process_id)).toMatchObject({
      state: 'killed',
      signal: 'SIGTERM',
      detail: 'SIGTERM by agent alpha',
      now: null,
    })
    expect((await logs(kit, process_id)).content).toBe('ready\n')
    expect(failureOf(await kit.invoke('alpha', 'process.kill', { process_id }))).toBe(
      'ProcessNotRunning',
    )
    const [entry] = await kit.audit({ agent: 'alpha', capability: 'process.ended' })
    expect(entry).toMatchObject({
      kind: 'act',
      arguments: { process_id, command: 'perl', state: 'killed' },
    })
    const calls = await kit.audit({ agent: 'alpha', capability: 'process.kill' })
    expect(calls.filter(({ result }) => result !== 'pending').map(({ detail }) => detail)).toEqual([
      { object: expect.stringMatching(/^perl -e /) },
      { object: expect.stringMatching(/^perl -e /) },
    ])
  })

  test('tell their exit code when they end by themselves, and their agent hears of it', async () => {
    await using kit = await openProcessKit()
    const heard: unknown[] = []
    using _listening = kit.app.subscribeEvents('alpha', (event) => heard.push(event) > 0)
    const process_id = await start(kit, {
      command: 'sh',
      args: ['-c', 'echo done; echo bad >&2; exit 7'],
      background: true,
    })
    await expect.poll(async () => (await monitor(kit, process_id)).state).toBe('completed')
    expect(await monitor(kit, process_id)).toMatchObject({ exit_code: 7, detail: null })
    expect(await logs(kit, process_id, { stream: 'stderr' })).toMatchObject({
      content: 'bad\n',
      state: 'completed',
      truncated: false,
    })
    const data = { process_id, command: 'sh', state: 'completed', exit_code: 7 }
    await expect.poll(() => heard).toMatchObject([{ type: 'process.ended', data }])
  })

  test('are read from any offset, as far as it is kept, never through the middle of a character', async () => {
    await using kit = await openProcessKit()
    const process_id = await start(kit, {
      command: 'perl',
      args: ['-e', 'print "é" x 10'],
      background: true,
    })
    await expect.poll(async () => (await monitor(kit, process_id)).state).toBe('completed')
    const first = await logs(kit, process_id, { offset: 0, limit: 5 })
    expect(first).toMatchObject({ content: 'éé', next_offset: 4, total_bytes: 20, truncated: true })
    const rest = await logs(kit, process_id, { offset: first.next_offset })
    expect(rest).toMatchObject({ content: 'é'.repeat(8), next_offset: 20, truncated: false })
    expect(await logs(kit, process_id, { limit: 4 })).toMatchObject({ content: 'éé', offset: 16 })
    expect(await logs(kit, process_id, { offset: 99 })).toMatchObject({ content: '', offset: 20 })
  })

  test('keep the end of a long output and say how much is lost', async () => {
    await using kit = await openProcessKit()
    const lines = 60_000
    const process_id = await start(kit, {
      command: 'perl',
      args: ['-e', `printf "%049d\\n", $_ for 1..${lines}; print STDERR "ok"`],
      background: true,
    })
    // Output that is kept as it comes waits for its turn by the clock of the service.
    const turn = setInterval(() => kit.clock.move(50), 5)
    await expect.poll(async () => (await monitor(kit, process_id)).state).toBe('completed')
    clearInterval(turn)
    const all = await logs(kit, process_id, { offset: 0, limit: 1_048_576 })
    expect(all.total_bytes).toBe(lines * 50)
    expect(all.lost_bytes).toBe(all.offset)
    expect(all.offset).toBeGreaterThan(0)
    expect(all.total_bytes - all.offset).toBeGreaterThanOrEqual(1.5 * 1024 * 1024)
    expect((await logs(kit, process_id, { limit: 100 })).content).toBe(
      `${String(lines - 1).padStart(49, '0')}\n${String(lines).padStart(49, '0')}\n`,
    )
  })

  test('end within two seconds, with all that they started, when what they write cannot be kept', async () => {
    await using kit = await openProcessKit()
    const logsAt = join(kit.folder, 'processes', 'logs')
    rmSync(logsAt, { recursive: true })
    writeFileSync(logsAt, '')
    const marker = marked()
    const script = `$SIG{TERM} = "IGNORE"; $0 = "${marker}"; fork; $| = 1; ${untilGo}; print "x"; sleep 1000 while 1`
    const process_id = await start(kit, { command: 'perl', args: ['-e', script], background: true })
    await expect.poll(() => survivors(marker).length).toBe(2)
    writeFileSync(join(kit.workspace('alpha'), 'go'), '')
    await expect.poll(() => survivors(marker)).toEqual([])
    await expect
      .poll(() => monitor(kit, process_id))
      .toMatchObject({
        state: 'killed',
        detail: expect.stringContaining('its output could not be kept'),
      })
  })

  test('are not forgotten when their end cannot be stored at once', async () => {
    let broken = false
    await using kit = await openProcessKit(freely, {
      storage: (memory) => ({
        ...memory,
        transaction: (work) =>
          broken ? Promise.reject(new Error('no room')) : memory.transaction(work),
      }),
    })
    const marker = marked()
    const script = `$0 = "${marker}"; $| = 1; print "ready\\n"; ${untilGo}; exit 4`
    const process_id = await start(kit, { command: 'perl', args: ['-e', script], background: true })
    await written(kit, process_id, 'ready')
    broken = true
    writeFileSync(join(kit.workspace('alpha'), 'go'), '')
    await expect.poll(() => survivors(marker)).toEqual([])
    expect((await kit.storage.processes.find(process_id))?.state).toBe('running')
    broken = false
    const turn = setInterval(() => kit.clock.move(1_000), 10)
    await expect
      .poll(() => monitor(kit, process_id))
      .toMatchObject({ state: 'completed', exit_code: 4 })
    clearInterval(turn)
    expect(await kit.audit({ capability: 'process.ended' })).toHaveLength(1)
  })

  test('go on where they began before the start of the service had ended, and only those', async () => {
    let starts: (() => Promise<void>) | null = null
    await using kit = await openProcessKit(freely, {
      startsLater: true,
      ports: (name, port) => {
        if (name !== 'storage') return port
        const storage = port as unknown as Storage
        const processes = replacing(storage.processes, {
          async insert(process) {
            await storage.processes.insert(process)
            await starts?.()
          },
        })
        return replacing(storage, { processes }) as never
      },
    })
    const script = `$| = 1; print "ready\\n"; ${untilGo}; exit 4`
    const program = { command: 'perl', args: ['-e', script], background: true }
    const early = await start(kit, program)
    const began = await kit.storage.processes.find(early)
    if (!began) throw new Error('it is not on record')
    const left = Array.from({ length: 300 }, (_, at) => ({ ...began, id: `proc-left-${at}` }))
    for (const one of left) await kit.storage.processes.insert(one)
    starts = () => kit.app.start()
    const atOnce = await start(kit, program)
    const listed = { state: 'interrupted', limit: 1, offset: 0 } as const
    expect((await kit.storage.processes.list(listed)).total).toBe(left.length)
    for (const id of [early, atOnce]) expect((await monitor(kit, id)).state).toBe('running')
    writeFileSync(join(kit.workspace('alpha'), 'go'), '')
    for (const id of [early, atOnce])
      await expect
        .poll(() => monitor(kit, id))
        .toMatchObject({ state: 'completed', exit_code: 4, detail: null })
  })

  test('belong to their agent: to others they do not exist', async () => {
    await using kit = await openProcessKit()
    await kit.agent('beta')
    const process_id = await start(kit, waiting(marked()))
    for (const name of ['process.monitor', 'process.logs', 'process.kill'])
      expect(failureOf(await kit.invoke('beta', name, { process_id }))).toBe('ProcessNotFound')
    expect(dataOf<object>(await kit.invoke('beta', 'process.list'))).toMatchObject({ total: 0 })
    expect((await monitor(kit, process_id)).state).toBe('running')
  })

  test('are eight at most for one agent, and one that ended makes room', async () => {
    await using kit = await openProcessKit()
    const ids = []
    for (let i = 0; i < 8; i += 1) ids.push(await start(kit, waiting(marked())))
    expect(failureOf(await kit.invoke('alpha', 'process.run', waiting(marked())))).toBe(
      'QuotaExceeded',
    )
    await kit.invoke('alpha', 'process.kill', { process_id: ids[0], signal: 'SIGKILL' })
    await start(kit, waiting(marked()))
  })

  test('that do not mind SIGTERM are ended for good after the grace', async () => {
    await using kit = await openProcessKit()
    const marker = marked()
    const stubborn = `$| = 1; $SIG{TERM} = "IGNORE"; $0 = "${marker}"; print "ready\\n"; sleep 100 while 1`
    const process_id = await start(kit, {
      command: 'perl',
      args: ['-e', stubborn],
      background: true,
    })
    await written(kit, process_id, 'ready')
    const killing = kit.invoke('alpha', 'process.kill', { process_id, force_after_seconds: 3 })
    kit.clock.move(2_999)
    expect(survivors(marker)).toHaveLength(1)
    // Past the grace, and not as far as the end of what the call itself may take.
    let moved = 0
    const turn = setInterval(() => {
      if (moved < 20) kit.clock.move(1_000)
      moved += 1
    }, 10)
    expect(dataOf<object>(await killing)).toMatchObject({ state: 'killed' })
    clearInterval(turn)
    expect(survivors(marker)).toEqual([])
    expect((await monitor(kit, process_id)).detail).toBe('SIGTERM by agent alpha')
  })

  test('are only told by a signal that ends nothing', async () => {
    await using kit = await openProcessKit()
    const minding = `$| = 1; $SIG{HUP} = sub { print "again\\n" }; print "ready\\n"; sleep 100 while 1`
    const process_id = await start(kit, {
      command: 'perl',
      args: ['-e', minding],
      background: true,
    })
    await written(kit, process_id, 'ready')
    const told = await kit.invoke('alpha', 'process.kill', { process_id, signal: 'SIGHUP' })
    expect(dataOf<object>(told)).toMatchObject({ state: 'running', signal_sent: 'SIGHUP' })
    await written(kit, process_id, 'again')
  })

  test('end with the agent when it is revoked, and go on while it is paused', async () => {
    await using kit = await openProcessKit()
    const marker = marked()
    const process_id = await start(kit, waiting(marker))
    await written(kit, process_id, 'ready')
    await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
    expect(await kit.invoke('alpha', 'process.run', { command: 'true' })).toMatchObject({
      kind: 'denied',
      reason: 'agent_paused',
    })
    expect(survivors(marker)).toHaveLength(1)
    await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
    await expect.poll(() => survivors(marker)).toEqual([])
    const shown = () => kit.app.showProcess(kit.operator(), { process_id })
    await expect.poll(shown).toMatchObject({ state: 'killed', detail: 'its agent was revoked' })
  })

  test('end with the service, and with their time', async () => {
    const marker = marked()
    {
      await using kit = await openProcessKit()
      await start(kit, waiting(marker))
      const short = await start(kit, { ...waiting(marker), timeout_seconds: 60 })
      await expect.poll(() => survivors(marker).length).toBe(2)
      kit.clock.move(60_000)
      await expect.poll(async () => (await monitor(kit, short)).state).toBe('timed_out')
      expect(survivors(marker)).toHaveLength(1)
    }
    expect(survivors(marker)).toEqual([])
  })

  test('are shown to people and ended by them, on record', async () => {
    await using kit = await openProcessKit()
    const process_id = await start(kit, waiting(marked()))
    await written(kit, process_id, 'ready')
    const op = kit.operator('ana')
    const page = await kit.app.listProcesses(op, { agent: 'alpha', limit: 10, offset: 0 })
    expect(page).toMatchObject({ total: 1, processes: [{ process_id, agent: 'alpha' }] })
    const log = { process_id, stream: 'stdout', limit: 100 } as const
    expect((await kit.app.readProcessLog(op, log)).content).toBe('ready\n')
    const how = { signal: 'SIGKILL', force_after_seconds: 0 } as const
    expect(await kit.app.killProcess(op, { process_id, ...how })).toMatchObject({ state: 'killed' })
    await expect(kit.app.killProcess(op, { process_id, ...how })).rejects.toMatchObject({
      type: 'ProcessNotRunning',
    })
    const acts = (await kit.audit({ agent: 'alpha', capability: 'process.killed' })).map(
      ({ actor, arguments: args }) => [actor, args['process_id'], args['command']],
    )
    expect(acts).toEqual([['user:ana', process_id, 'perl']])
  })

  test('are named by their command to whoever is asked about a signal, until they have ended', async () => {
    await using kit = await openProcessKit(
      freely.replace('rules:\n', 'rules:\n  - { match: process.kill, tier: approval_required }\n'),
    )
    const process_id = await start(kit, waiting(marked()))
    await written(kit, process_id, 'ready')
    const id = await kit.pending('alpha', 'process.kill', { process_id, signal: 'SIGHUP' })
    const op = kit.operator('ana')
    const look = () => kit.app.showApproval(op, { approval_id: id })
    const { preview, stale } = await look()
    expect(stale).toBeNull()
    expect(preview?.text).toMatch(/^kill -s SIGHUP proc-.*\nprocess: perl -e /)
    await kit.app.killProcess(op, { process_id, signal: 'SIGKILL', force_after_seconds: 0 })
    expect((await look()).stale).toContain('has changed')
    const missing = { process_id: 'proc-01jqz4xk2m8v5w9r3t6y0b7n1c' }
    expect(failureOf(await kit.invoke('alpha', 'process.kill', missing))).toBe('ProcessNotFound')
  })
})
