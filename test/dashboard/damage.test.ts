import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptModel } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gapMax } from '../../packages/server/src/log/entry-index/chains.ts'
import { openBench } from '../../packages/server/test/kit/log-bench.ts'
import { entryOf, ModelSource } from '../../packages/server/test/models/model-source.ts'
import { Dashboard } from '../support/dashboard.ts'
import { forgeEntry } from '../support/forge-entry.ts'
import { invoke } from '../support/server.ts'

describe.skipIf(!hasProgram('chromium'))('models and the log in the dashboard', () => {
  let dashboard: Dashboard
  let source: ModelSource
  let token = ''
  const bytes = scriptModel({ mode: 'random', type: 'F32', dim: 256, ffn: 512, layers: 1 })

  beforeAll(async () => {
    source = await ModelSource.open()
    // A minute long, if nobody cancels it.
    source.file('/tiny.gguf', bytes, { bytes: Math.ceil(bytes.length / 240), ms: 250 })
    source.json('/models.json', {
      schema_version: 1,
      models: [entryOf('tiny-test', source.url('/tiny.gguf'), bytes)],
    })
    dashboard = await Dashboard.openAs('ana', [], (dataDir) =>
      writeFileSync(
        join(dataDir, 'gatehouse.yaml'),
        `catalog: { url: "${source.url('/models.json')}" }
outbound: { private_targets: ["${source.target}"], ca_file: "${source.caFile}" }
`,
      ),
    )
    token = (await dashboard.api.createAgent({ name: 'mailbot' })).token
  })
  afterAll(async () => {
    await dashboard?.[Symbol.asyncDispose]()
    await source?.[Symbol.asyncDispose]()
  })

  test('a model is installed with its progress, cancelled, and goes on from where it was', async () => {
    const { page, api } = dashboard
    await dashboard.goTo('/models')
    const row = page.getByRole('row').filter({ hasText: 'tiny-test' })
    await row.getByRole('button', { name: 'Install' }).click()
    const progress = row.getByRole('progressbar')
    await progress.waitFor()
    const value = async () => Number(await progress.getAttribute('value'))
    await expect.poll(value).toBeGreaterThan(0)
    // The stream says how far it is. The list is read anew for what the log says: that it began, and each tenth.
    const [from, asked] = [await value(), dashboard.requests.length]
    await expect.poll(value).toBeGreaterThan(from + 5)
    const since = dashboard.requests.slice(asked).filter((url) => url.endsWith('/api/models'))
    expect(since.length).toBeLessThanOrEqual(2)
    await row.getByRole('button', { name: 'Cancel' }).click()
    const goOn = row.getByRole('button', { name: /^Install \(goes on from .*: tiny-test$/ })
    await goOn.waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    expect((await api.showModel({ id: 'tiny-test' })).installed).toBe(false)
    source.file('/tiny.gguf', bytes)
    await goOn.click()
    await row.getByText('Installed', { exact: true }).waitFor()
    expect(await api.showModel({ id: 'tiny-test' })).toMatchObject({ installed: true })
    expect(source.of('/tiny.gguf').some(({ range }) => range !== null)).toBe(true)
  })

  test('a log that was tampered with says so, and where, until somebody takes note', async () => {
    const { page, run } = dashboard
    await invoke(run, token, 'filesystem.write', { path: 'notes.txt', content: 'kept' })
    await dashboard.goTo('/audit')
    await page.getByText(/^Verified through entry [\d,]+$/).waitFor()
    await dashboard.restartAfter((dataDir) => forgeEntry(dataDir, 'notes.txt'))
    await dashboard.goTo('/overview')
    const { reasons, status } = await dashboard.api.getHealth()
    expect(status).toBe('degraded')
    await page.getByText('Degraded', { exact: true }).first().waitFor()
    const said = await page.locator('#content').innerText()
    for (const reason of reasons) expect(said).toContain(reason)
    const { health, health_reasons } = await dashboard.api.getStatus()
    expect([health, health_reasons]).toEqual([status, reasons])
    const line = (await dashboard.gate.cli(['status'])).stdout
    for (const reason of reasons) expect(line).toContain(reason.slice(0, 60))
    await dashboard.goTo('/audit')
    const alert = page.getByRole('alert')
    await alert.getByText('Verification failed: modified').waitFor()
    await alert.getByText(/First bad entry: \d+ \(evt-|First bad entry: \d+ \(\w+-/).waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    await alert.getByRole('button', { name: 'Acknowledge…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('A test changed it')
    await dialog.getByRole('button', { name: 'Acknowledge the damage' }).click()
    await dialog.waitFor({ state: 'detached' })
    await alert.waitFor({ state: 'detached' })
    expect((await dashboard.api.getHealth()).status).toBe('healthy')
  })

  test('a finding in the log of a process that is gone is accepted, and pages go on saying what they lack of it', async () => {
    const { page, gate } = dashboard
    await using gone = await openBench({ chain: 'gone' })
    await gone.fill(4)
    await gone.close()
    const wide = 3 + gapMax + 1
    gone.tamper((entries) => {
      const last = entries.at(-1)
      if (last) last.seq = wide
    })
    cpSync(gone.directory, join(gate.dataDir, 'gates', '1', 'audit'), { recursive: true })
    const lacking = `In the log of gone, ${gapMax + 1} entries are gone before number ${wide}`
    const notice = page.getByRole('status').filter({ hasText: lacking })

    await dashboard.goTo('/audit')
    const alert = page.getByRole('alert')
    await alert.getByText('Verification failed: missing').waitFor()
    await alert.getByText(/In the log of gone: /).waitFor()
    await notice.getByText(/gatehouse audit export$/).waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    await alert.getByRole('button', { name: 'Acknowledge…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('Its disk is gone')
    await dialog.getByRole('button', { name: 'Acknowledge the damage' }).click()
    await dialog.waitFor({ state: 'detached' })
    await alert.waitFor({ state: 'detached' })
    await page.getByText(/the log of gone is as it was accepted at /i).waitFor()
    for (const address of [
      '/audit',
      '/overview',
      '/activity',
      '/map',
      '/agents/mailbot?tab=statistics',
    ]) {
      await dashboard.goTo(address)
      await notice.waitFor()
    }
    for (const args of [['figures'], ['agent', 'show', 'mailbot'], ['audit', 'query']])
      expect([args, (await gate.cli(args)).stdout]).toEqual([
        args,
        expect.stringContaining(`NOT LISTED: in the log of gone, ${gapMax + 1} entries are gone`),
      ])
  })
})
