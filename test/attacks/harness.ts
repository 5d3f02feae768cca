import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from '../support/files-below.ts'
import { Installation, invoke, pause, type Run } from '../support/server.ts'

export { call, raw, request } from '../../packages/cli/src/selftest/raw-request.ts'

const policy = `version: 1
rules:
  - { match: filesystem.move, tier: blocked }
limits:
  - { match: system.time, limit: 100000, window: 1m }
`

const medianOf = (all: readonly number[]): number =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0

/** A running server with two agents and an honest client beside the attacks, which must not notice them. */
export class Siege implements AsyncDisposable {
  readonly gate = new Installation()
  readonly canary = `CANARY-ENV-${Math.random().toString(36).slice(2)}`
  run!: Run
  alpha!: { token: string; workspace: string }
  beta!: { token: string; workspace: string }
  #control: Promise<void> = Promise.resolve()
  #stop = false
  /** What the honest client waits before the attacks, at the median. */
  #quietMs = 0
  readonly latencies: number[] = []
  readonly failures: string[] = []

  static async begin(): Promise<Siege> {
    const siege = new Siege()
    process.env['GATEHOUSE_CANARY'] = siege.canary
    siege.run = await siege.gate.start()
    siege.alpha = await siege.gate.createAgent('alpha')
    siege.beta = await siege.gate.createAgent('beta')
    const { token } = await siege.gate.createAgent('control')
    const file = join(siege.gate.dataDir, 'o.yaml')
    writeFileSync(file, policy)
    const set = await siege.gate.cli(['policy', 'set', file])
    if (set.code !== 0) throw new Error(set.stderr)
    for (let call = 0; call < 15; call += 1) await siege.#askAsControl(token)
    siege.#quietMs = medianOf(siege.latencies.splice(0))
    siege.#control = siege.#controlClient(token)
    return siege
  }

  async #askAsControl(token: string): Promise<void> {
    const startedAt = performance.now()
    try {
      const { result, error } = await invoke(this.run, token, 'system.time')
      if (!result?.success) this.failures.push(JSON.stringify(error ?? result))
    } catch (cause) {
      this.failures.push(String(cause))
    }
    this.latencies.push(performance.now() - startedAt)
  }

  async #controlClient(token: string): Promise<void> {
    while (!this.#stop) {
      await this.#askAsControl(token)
      // Less often than the limit of calls a minute allows, however long a machine takes for the attacks.
      await pause(150)
    }
  }

  /** O1 and O8: the same process answers, and the honest form of the request works. */
  async unharmed(): Promise<void> {
    const health = await fetch(`${this.run.gateway_url}/healthz`)
    assert.equal(health.status, 200)
    assert.equal(this.gate.run?.pid, this.run.pid)
    const honest = await invoke(this.run, this.alpha.token, 'system.time')
    assert.equal(honest.result?.success, true)
  }

  /** O3: no canary and no token in anything that the server wrote. */
  leaks(more: readonly string[] = []): string[] {
    const secrets = [this.canary, this.alpha.token, this.beta.token, ...more]
    const found: string[] = []
    for (const { path, bytes } of filesBelow(this.gate.dataDir))
      for (const secret of secrets)
        if (bytes.includes(secret)) found.push(`${path} holds ${secret}`)
    for (const secret of secrets)
      if (this.gate.output.includes(secret)) found.push(`the output holds ${secret}`)
    return found
  }

  /** O2, O3 and O4, at the end of everything. */
  async end(): Promise<void> {
    this.#stop = true
    await this.#control
    assert.deepEqual(this.failures, [])
    const median = medianOf(this.latencies)
    // On a machine that others use as well it waited before there were attacks, too.
    assert.ok(
      median < Math.max(250, 15 * this.#quietMs),
      `the honest client waited ${median} ms at the median, and ${this.#quietMs} before the attacks`,
    )
    assert.deepEqual(this.leaks(), [])
    assert.equal(await this.gate.stop(), 0)
    const verified = await this.gate.cli(['audit', 'verify', '--json'])
    const { integrity } = JSON.parse(verified.stdout) as { integrity: string }
    assert.equal(integrity, 'verified')
  }

  /** Leaves nothing running, however the end comes out. */
  async endAndClose(): Promise<void> {
    try {
      await this.end()
    } finally {
      await this[Symbol.asyncDispose]()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop = true
    await this.#control
    await this.gate[Symbol.asyncDispose]()
  }
}
