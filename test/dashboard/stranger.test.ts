import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { hasProgram } from '@gatehouse/testkit/programs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard, password } from '../support/dashboard.ts'

const canRun = hasProgram('chromium') && hasProgram('dovecot')

/** What a tool said, as its model reads it. */
type Said = { readonly failed: boolean; readonly text: string }

/** A person who has read nothing, and an agent that knows what the page showed of it. */
describe.skipIf(!canRun)('somebody who has never seen the dashboard', () => {
  let dashboard: Dashboard
  let server: Dovecot
  let smtp: SmtpReceiver
  const client = new Client({ name: 'stranger', version: '1.0.0' })

  beforeAll(async () => {
    server = await Dovecot.start()
    smtp = await SmtpReceiver.open({ users: { [server.user]: server.password } })
    // Two pages are looked at while a mail is held.
    dashboard = await Dashboard.open(['--proxy-delays', 'mail.send=10m'])
    const { token } = await dashboard.api.createSetupLink()
    await dashboard.page.goto(`${dashboard.run.dashboard_url}/#setup=${token}`)
  })
  afterAll(async () => {
    await client.close()
    await dashboard?.[Symbol.asyncDispose]()
    await smtp?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  const call = async (name: string, args: Record<string, unknown>): Promise<Said> => {
    const answer = await client.callTool({ name, arguments: args })
    const content = answer.content as { text?: string }[]
    return { failed: answer.isError === true, text: content.map(({ text }) => text).join('\n') }
  }
  const menu = (name: RegExp) =>
    dashboard.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name })
  /** Deletes a file; the agent is told to wait for a person. */
  const askToDelete = async (path: string): Promise<string> => {
    expect((await call('filesystem__write', { path, content: 'kept' })).failed).toBe(false)
    const { text } = await call('filesystem__delete', { path })
    return /appr-[0-9a-z]+/.exec(text)?.[0] ?? text
  }
  const waitFor = (approval_id: string) =>
    call('approvals__wait', { approval_id, timeout_seconds: 60 })

  test('creates themselves, and an agent that connects with what the page shows', async () => {
    const { page } = dashboard
    await page.getByLabel('Name').fill('sam')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByLabel('Password again').fill(password)
    await page.getByRole('button', { name: 'Create operator and log in' }).click()
    await page.getByRole('heading', { name: 'Waiting for your first agent' }).waitFor()
    await page.getByRole('button', { name: 'Create an agent' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('helper')
    await dialog.getByRole('button', { name: 'Create an agent' }).click()
    const shown = page.getByRole('dialog', { name: 'The token of helper' })
    await shown.getByText('Waiting for its first connection').waitFor()
    await shown.getByText(/^http\S+\/mcp$/).waitFor()
    const snippets = await shown.locator('pre').allInnerTexts()
    const token = snippets[0]?.trim() ?? ''
    const address = snippets.map((text) => text.trim()).find((text) => /^http\S+\/mcp$/.test(text))
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(
      new StreamableHTTPClientTransport(new URL(address ?? ''), { requestInit: { headers } }),
    )
    await shown.getByText('It is connected.').waitFor()
    for (const path of ['drafts', 'kept'])
      expect(await call('filesystem__mkdir', { path })).toMatchObject({ failed: false })
    await shown.getByText('It has made its first call.').waitFor()
    await shown.getByRole('button', { name: 'Done' }).click()
  })

  test('decides on a request that the overview leads to, and the agent has the result', async () => {
    const { page } = dashboard
    const id = await askToDelete('drafts/one.txt')
    await page.getByRole('link', { name: /^Oldest request helper filesystem\.delete/ }).waitFor()
    await page.getByRole('link', { name: /^Oldest request/ }).click()
    await page.getByRole('button', { name: 'Approve and run' }).waitFor()
    await page.getByRole('button', { name: 'Approve and run' }).click()
    const card = page.locator(`article[data-id="${id}"]`)
    await card.getByText('Ran and succeeded').waitFor()
    await card.getByText('drafts/one.txt', { exact: true }).waitFor()
    expect((await waitFor(id)).text).toContain('approved')
  })

  test('connects a mailbox, and undoes a mail before it is sent', async () => {
    const { page } = dashboard
    await menu(/^Services/).click()
    await page.getByRole('heading', { name: 'Services' }).waitFor()
    await page.getByRole('button', { name: 'Connect a service' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Kind').selectOption({ label: 'E-mail (IMAP and SMTP)' })
    await dialog.getByLabel('Address').fill(server.user)
    await dialog.getByLabel('IMAP host').fill('127.0.0.1')
    await dialog.getByLabel('SMTP host').fill('127.0.0.1')
    await dialog.getByLabel('Password', { exact: true }).fill(server.password)
    await dialog.getByText('More settings').click()
    await dialog.getByLabel('IMAP port').fill(String(server.imapPort))
    await dialog.getByLabel('IMAP security').selectOption('plain')
    await dialog.getByLabel('SMTP port').fill(String(smtp.port))
    await dialog.getByLabel('SMTP security').selectOption('plain')
    await dialog.getByLabel('helper').check()
    await dialog.getByRole('button', { name: 'Test and connect' }).click()
    await page.getByText('Connected', { exact: true }).waitFor()
    const mail = { to: ['ben@example.net'], subject: 'Offer', body: 'For you.' }
    const { text } = await call('email__send', mail)
    await menu(/^Approvals/).click()
    await page.getByRole('button', { name: 'Approve and run' }).waitFor()
    await page.getByRole('button', { name: 'Approve and run' }).click()
    // The call has only put it in line: the card says so, and can cancel it.
    const card = page.getByRole('article').filter({ hasText: 'email.send' })
    await card.getByText(/^Nothing has left yet\. It runs in \d+ min( \d+ s)?$/).waitFor()
    await card.getByRole('button', { name: 'Cancel' }).waitFor()
    await waitFor(/appr-[0-9a-z]+/.exec(text)?.[0] ?? text)
    await menu(/^Overview/).click()
    await page.getByRole('link', { name: '1 write is about to run' }).click()
    await page.getByRole('button', { name: 'Cancel' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Cancelled. Nothing was sent.').waitFor()
    expect(smtp.deliveries).toEqual([])
    const { writes } = await dashboard.api.listWrites({ status: 'all' })
    expect(writes).toMatchObject([{ status: 'cancelled', ended_by: 'user:sam' }])
  })

  test('lets a rule answer after three like decisions, and it holds', async () => {
    const { page } = dashboard
    await menu(/^Approvals/).click()
    for (const name of ['two', 'three']) {
      const id = await askToDelete(`drafts/${name}.txt`)
      const approve = page.getByRole('button', { name: 'Approve and run' })
      await approve.click()
      expect((await waitFor(id)).text).toContain('approved')
      // Else the next click is one on what was decided.
      await approve.waitFor({ state: 'detached' })
    }
    await askToDelete('drafts/four.txt')
    const offers = page.getByText('whatever is in drafts/ without asking')
    // One beside what waits, and one for all that was decided.
    await expect.poll(() => offers.count()).toBe(2)
    await page.getByRole('button', { name: 'See the rule…' }).first().click()
    await page.getByRole('button', { name: 'Write the rule' }).waitFor()
    await page.getByText(/^Of \d+ calls by helper in the last week, 4 would have run/).waitFor()
    await page.getByRole('button', { name: 'Write the rule' }).click()
    await page.getByText('The rule is in agents/helper.yaml.').waitFor()
    await call('filesystem__write', { path: 'drafts/five.txt', content: 'kept' })
    expect(await call('filesystem__delete', { path: 'drafts/five.txt' })).toMatchObject({
      failed: false,
    })
    expect(await askToDelete('kept/five.txt')).toMatch(/^appr-/)
    await menu(/^Policy/).click()
    await page.getByText('Approved 3 times in a week').first().waitFor()
  })
})
