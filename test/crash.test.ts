import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportedEntries } from './support/exported-entries.ts'
import { Installation, invoke, pause, type Run, rpc } from './support/server.ts'

const full = process.env['GATEHOUSE_FULL'] === '1'
const kills = full ? 200 : 6
const callsWanted = full ? 10_000 : 300
const clients = 8

const policy = `version: 1
rules:
  - match: filesystem.append
    when: args.path == "approved.log"
    tier: approval_required
limits:
  - { match: "filesystem.*", limit: 100000, window: 1m }
`

type Approval = {
  readonly id: string
  readonly execution: { readonly state: string }
  readonly arguments: { readonly content: string }
}

/** Calls that the server acknowledged before it was killed: the promise is about exactly these. */
class Acknowledged {
  readonly stats: string[] = []
  readonly appends: string[] = []
  #next = 0

  mark(): string {
    this.#next += 1
    return `n${this.#next}`
  }

  get count(): number {
    return this.stats.length + this.appends.length
  }
}

const loadUntilDead = async (run: Run, token: string, seen: Acknowledged): Promise<void> => {
  for (;;) {
    const mark = seen.mark()
    const kind = Number(mark.slice(1)) % 8
    try {
      if (kind === 0) {
        await invoke(run, token, 'filesystem.append', {
          path: 'approved.log',
          content: `${mark}\n`,
        })
      } else if (kind < 4) {
        const { result } = await invoke(run, token, 'filesystem.append', {
          path: 'plain.log',
          content: `${mark}\n`,
        })
        if (result?.success) seen.appends.push(mark)
      } else {
        const { result } = await invoke(run, token, 'filesystem.stat', { path: `probe-${mark}` })
        if (result?.success) seen.stats.push(mark)
      }
    } catch {
      // The connection ended in the middle: nothing was acknowledged.
      return
    }
  }
}

const approveUntilDead = async (run: Run, userToken: string): Promise<void> => {
  const headers = { authorization: `Bearer ${userToken}`, 'content-type': 'application/json' }
  try {
    for (;;) {
      const response = await fetch(`${run.user_api_url}/api/approvals?limit=100`, { headers })
      const { approvals } = (await response.json()) as { approvals: Approval[] }
      await Promise.all(
        approvals.map(({ id }) =>
          fetch(`${run.user_api_url}/api/approvals/${id}/approve`, {
            method: 'POST',
            headers,
            body: '{}',
          }),
        ),
      )
      await pause(5)
    }
  } catch {
    return
  }
}

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean)

test(
  `${kills} kills under load lose no acknowledged call, break no chain and run nothing approved twice`,
  async () => {
    await using gate = new Installation()
    let run = await gate.start()
    const { token, workspace } = await gate.createAgent('load')
    mkdirSync(workspace, { recursive: true })
    writeFileSync(join(workspace, 'plain.log'), '')
    writeFileSync(join(workspace, 'approved.log'), '')
    writeFileSync(join(gate.dataDir, 'load.yaml'), policy)
    expect(
      (await gate.cli(['policy', 'set', '--agent', 'load', join(gate.dataDir, 'load.yaml')])).code,
    ).toBe(0)
    const userToken = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()

    const seen = new Acknowledged()
    const perLife = Math.ceil(callsWanted / kills)
    for (let kill = 1; kill <= kills; kill += 1) {
      const target = seen.count + perLife
      const workers = Array.from({ length: clients }, () => loadUntilDead(run, token, seen))
      workers.push(approveUntilDead(run, userToken))
      while (seen.count < target) await pause(1)
      await pause(Math.random() * 20)
      await gate.kill()
      await Promise.all(workers)
      run = await gate.start()
    }
    expect(seen.count).toBeGreaterThanOrEqual(callsWanted)

    // Requests that were approved before the last kill ran or are reported by now; nothing is left running.
    const headers = { authorization: `Bearer ${userToken}` }
    const approvals: Approval[] = []
    for (let tries = 0; tries < 400; tries += 1) {
      approvals.length = 0
      for (let offset = 0, total = 1; offset < total; offset += 100) {
        const response = await fetch(
          `${run.user_api_url}/api/approvals?status=approved&limit=100&offset=${offset}`,
          { headers },
        )
        const page = (await response.json()) as { approvals: Approval[]; total: number }
        approvals.push(...page.approvals)
        total = page.total
      }
      if (approvals.every(({ execution }) => !['waiting', 'running'].includes(execution.state)))
        break
      await pause(25)
    }
    expect((await rpc(run, token, 'capabilities.list')).error).toBeUndefined()
    expect(await gate.stop()).toBe(0)

    const verified = await gate.cli(['audit', 'verify', '--json'])
    expect(JSON.parse(verified.stdout)).toMatchObject({ integrity: 'verified' })
    const entries = await exportedEntries(gate)
    const recorded = new Set(
      entries
        .filter(({ result }) => result === 'success')
        .map(
          ({ capability, arguments: args }) =>
            `${capability} ${String(args['path'])} ${String(args['content'] ?? '').trim()}`,
        ),
    )
    const missing = [
      ...seen.stats.filter((mark) => !recorded.has(`filesystem.stat probe-${mark} `)),
      ...seen.appends.filter((mark) => !recorded.has(`filesystem.append plain.log ${mark}`)),
    ]
    expect(missing).toEqual([])
    const plain = new Set(linesOf(join(workspace, 'plain.log')))
    expect(seen.appends.filter((mark) => !plain.has(mark))).toEqual([])

    const ran = linesOf(join(workspace, 'approved.log'))
    expect(ran.length).toBe(new Set(ran).size)
    const effects = new Set(ran)
    const states = new Map(
      approvals.map(({ execution, arguments: args }) => [args.content.trim(), execution.state]),
    )
    expect(
      [...states].filter(([mark, state]) => state === 'succeeded' && !effects.has(mark)),
    ).toEqual([])
    expect(
      [...effects].filter((mark) => !['succeeded', 'interrupted'].includes(states.get(mark) ?? '')),
    ).toEqual([])
    expect(states.size).toBeGreaterThan(0)
  },
  full ? 1_800_000 : 180_000,
)
