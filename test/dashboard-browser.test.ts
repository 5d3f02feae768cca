import { AxeBuilder } from '@axe-core/playwright'
import { hasProgram } from '@gatehouse/testkit/programs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Installation, invoke, type Run } from './support/server.ts'

const password = 'correct horse battery'
const hostile =
  '<img src=x onerror="window.hit=1"> "><script>window.hit=1</script> \u202e\u001b[31mred'

describe.skipIf(!hasProgram('chromium'))('the dashboard in a browser', () => {
  let installation: Installation
  let run: Run
  let browser: Browser
  let page: Page
  let agent: { token: string; workspace: string }
  const requests: string[] = []
  const complaints: string[] = []

  const ask = async (path: string): Promise<string> => {
    const written = await invoke(run, agent.token, 'filesystem.write', { path, content: 'kept' })
    expect(written.result?.success).toBe(true)
    const held = await invoke(run, agent.token, 'filesystem.delete', { path })
    return String(held.error?.data?.['approval_id'])
  }

  /** Accessibility: no serious problem for people who use the page by other means than eyes and a mouse. */
  const assertAccessible = async (): Promise<void> => {
    const { violations } = await new AxeBuilder({ page }).analyze()
    const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(grave.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
  }

  const inBothThemes = async (work: () => Promise<void>): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await work()
    }
  }

  beforeAll(async () => {
    installation = new Installation()
    run = await installation.start(['--no-first-agent'])
    agent = await installation.createAgent('mailbot', ['--purpose', hostile])
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
    })
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    page = await context.newPage()
    page.on('request', (request) => requests.push(request.url()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    await installation?.[Symbol.asyncDispose]()
  })

  test('a person makes the first operator with the link, and is in', async () => {
    const made = await installation.cli(['setup-link'])
    const link = /https:\S+#setup=\S+/.exec(made.stdout)?.[0] ?? ''
    const { hash } = new URL(link)
    await page.goto(`${run.dashboard_url}/${hash}`)
    await page.getByLabel('Password', { exact: false }).first().waitFor()
    expect(page.url()).not.toContain('setup=')
    await inBothThemes(assertAccessible)
    await page.locator('input[name=name]').fill('ana')
    await page.locator('input[name=password]').fill(password)
    await page.locator('input[name=again]').fill(password)
    await page.getByRole('button', { name: 'Create operator and log in' }).click()
    await page.getByText('ana (operator)').waitFor()
    await page.getByText('Nothing waits.').waitFor()
    complaints.length = 0
  })

  test('what an agent asks for appears by itself, as text whatever it is', async () => {
    const id = await ask(`a ${hostile.replaceAll('/', '')}.txt`)
    const card = page.locator(`[data-id="${id}"]`)
    await card.waitFor()
    expect(await page.evaluate('window.hit')).toBeUndefined()
    expect(await card.innerText()).toContain('U+202E')
    expect(await card.locator('img, script').count()).toBe(0)
    await inBothThemes(assertAccessible)
  })

  test('it is whole on a narrow screen, with targets for fingers', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    expect(await page.evaluate(overhang)).toBeLessThanOrEqual(0)
    for (const name of ['Approve', 'Reject']) {
      const box = await page.getByRole('button', { name }).first().boundingBox()
      expect(box?.height ?? 0).toBeGreaterThanOrEqual(44)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('a link from a notification leads to its request, and a decision to its execution', async () => {
    const others = [await ask('one.txt'), await ask('two.txt'), await ask('three.txt')]
    const id = others[1] ?? ''
    await page.goto(`${run.dashboard_url}/#approvals/${id}`)
    const card = page.locator(`[data-id="${id}"].linked`)
    await card.waitFor()
    await card.getByLabel('Reason').fill('it may go')
    await card.getByRole('button', { name: 'Approve' }).click()
    await page.getByText(`Approved: ${id}. filesystem.delete ran and succeeded.`).waitFor()
    const waited = await invoke(run, agent.token, 'approvals.wait', {
      approval_id: id,
      timeout_seconds: 10,
    })
    expect(waited.result?.data).toMatchObject({ status: 'approved' })
    await page.goto('about:blank')
    await page.goto(`${run.dashboard_url}/#approvals/${id}`)
    await page
      .getByText(
        'mailbot asked for filesystem.delete: approved by ana. filesystem.delete ran and succeeded.',
      )
      .waitFor()
  })

  test('the REST API can be read in the browser, operation by operation', async () => {
    await page.goto(`${run.dashboard_url}/reference.html`)
    await page.locator('#approveApproval').waitFor()
    await page.getByRole('searchbox').fill('approvals approve')
    await expect.poll(() => page.locator('.operation:visible').count()).toBe(1)
    await page.locator('#approveApproval summary').click()
    await page.locator('#approveApproval').getByText('Answer 200').waitFor()
    expect(await page.locator('#approveApproval pre').first().innerText()).toContain('id (path')
    await inBothThemes(assertAccessible)
    await page.goto(`${run.dashboard_url}/`)
    await page.getByText('ana (operator)').waitFor()
  })

  test('it asks nobody but its own server, and nothing on it goes wrong', () => {
    const elsewhere = requests.filter(
      (url) => !url.startsWith(`${run.dashboard_url}/`) && url !== 'about:blank',
    )
    expect(elsewhere).toEqual([])
    expect(complaints).toEqual([])
  })

  test('after logging out there is nothing to see', async () => {
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByText('You are logged out.').waitFor()
    expect(await page.locator('.approval').count()).toBe(0)
    await inBothThemes(assertAccessible)
  })
})
