import { writeFileSync } from 'node:fs'
import { hasProgram } from '@gatehouse/testkit/programs'
import { expect, test } from 'vitest'
import { Installation, invoke, pause, type Run } from './support/server.ts'
import { survivors } from './support/survivors.ts'

const policy = `version: 1
rules:
  - { match: "process.*", tier: autonomous }
limits:
  - { match: "process.*", limit: 100000, window: 1m }
`

const start = async (run: Run, token: string, marker: string): Promise<string> => {
  const { result } = await invoke(run, token, 'process.run', {
    command: 'perl',
    args: [
      '-e',
      `$| = 1; $0 = "${marker}"; print "ready\\n"; if (!fork) { setpgrp; sleep 1000 } sleep 1000`,
    ],
    background: true,
    timeout_seconds: 3_600,
  })
  if (!result?.success) throw new Error(JSON.stringify(result))
  const process_id = String(result.data?.['process_id'])
  for (;;) {
    const read = await invoke(run, token, 'process.logs', { process_id })
    if (read.result?.data?.['content'] === 'ready\n') return process_id
    await pause(20)
  }
}

test.skipIf(!hasProgram('bwrap'))(
  'nothing that an agent started outlives the server, however that ends, and the agent is told',
  async () => {
    await using gate = new Installation()
    let run = await gate.start()
    const { token } = await gate.createAgent('alpha')
    const file = `${gate.dataDir}/o.yaml`
    writeFileSync(file, policy)
    expect((await gate.cli(['policy', 'set', file])).code).toBe(0)
    const marker = `left-${Math.random().toString(36).slice(2)}`

    const killed = await start(run, token, marker)
    await expect.poll(() => survivors(marker).length).toBeGreaterThanOrEqual(2)
    await gate.kill()
    await expect.poll(() => survivors(marker)).toEqual([])

    run = await gate.start()
    const seen = await invoke(run, token, 'process.monitor', { process_id: killed })
    expect(seen.result?.data).toMatchObject({
      state: 'interrupted',
      sandbox: 'bubblewrap',
      detail: expect.stringContaining('the service ended'),
      now: null,
    })
    const kept = await invoke(run, token, 'process.logs', { process_id: killed })
    expect(kept.result?.data).toMatchObject({ content: 'ready\n', state: 'interrupted' })

    const stopped = await start(run, token, marker)
    const waited = invoke(run, token, 'process.run', {
      command: 'perl',
      args: ['-e', `$SIG{TERM} = "IGNORE"; $0 = "${marker}-waited"; sleep 1000 while 1`],
      timeout_seconds: 3_600,
    }).catch(() => null)
    await expect.poll(() => survivors(`${marker}-waited`).length).toBe(1)
    const stoppingMs = performance.now()
    expect(await gate.stop()).toBe(0)
    expect(performance.now() - stoppingMs).toBeLessThan(60_000)
    await waited
    expect(survivors(marker)).toEqual([])
    const shown = await gate.json<{ state: string; detail: string }>(['processes', 'show', stopped])
    expect(shown).toMatchObject({ state: 'killed', detail: 'the service stopped' })
    const { entries } = await gate.json<{ entries: { result: string; error: unknown }[] }>([
      'audit',
      'query',
      '--capability',
      'process.run',
    ])
    // Each call that began has its end on record, also those that a stop or a kill cut short.
    expect(entries.filter(({ result }) => result === 'pending')).toHaveLength(entries.length / 2)
  },
)
