import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { asking, failureOf, openProcessKit } from './process-kit.ts'
import { hasLandlock } from './sandbox-kit.ts'

describe.runIf(hasLandlock)('where only Landlock keeps programs', () => {
  test('the person who approves, the log and health read so; what was approved runs', async () => {
    await using kit = await openProcessKit(asking, {}, 'landlock')
    const script = join(kit.workspace('alpha'), 'build.sh')
    writeFileSync(script, '#!/bin/sh\necho one\n')
    chmodSync(script, 0o755)
    const id = await kit.pending('alpha', 'process.run', { command: './build.sh' })
    const { preview } = await kit.app.showApproval(kit.operator(), { approval_id: id })
    expect(preview).toMatchObject({ text: expect.stringContaining('landlock, WEAKER than') })
    await kit.decide(id, 'approve')
    expect((await kit.resolved('alpha', id)).result).toMatchObject({
      success: true,
      data: { stdout: 'one\n' },
    })
    const entries = await kit.audit({ agent: 'alpha', capability: 'process.run' })
    expect(entries.some(({ detail }) => detail?.['sandbox'] === 'landlock')).toBe(true)
    const health = await kit.app.health(kit.operator())
    expect(health.components.sandbox).toMatchObject({ status: 'degraded', backend: 'landlock' })
  })

  test('a program that asks for hosts is refused, and told what is lacking', async () => {
    const named = `version: 1
rules:
  - { match: process.run, tier: autonomous, network: ["192.0.2.1:443"] }
`
    await using kit = await openProcessKit(named, {}, 'landlock')
    const outcome = await kit.invoke('alpha', 'process.run', { command: 'true' })
    expect(failureOf(outcome)).toBe('SandboxUnavailable')
    expect(JSON.stringify(outcome)).toContain('needs bubblewrap')
  })
})
