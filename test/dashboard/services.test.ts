import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard } from '../support/dashboard.ts'
import { invoke } from '../support/server.ts'

const letter = (subject: string) =>
  `From: ben@example.net\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.net>\r\n\r\nHello.\r\n`

const policy = 'version: 1\nrules:\n  - { match: "email.*", tier: autonomous }\n'

const delays = 'mail.send=1h,mail.move=0s,mail.forward=0s'

const canRun = hasProgram('chromium') && hasProgram('dovecot')

describe.skipIf(!canRun)('a mailbox in the dashboard', () => {
  let dashboard: Dashboard
  let server: Dovecot
  let smtp: SmtpReceiver
  let token = ''

  beforeAll(async () => {
    server = await Dovecot.start()
    smtp = await SmtpReceiver.open({
      users: { [server.user]: server.password },
      unknown: ['gone@example.net'],
    })
    for (const subject of ['first', 'second']) server.maildir().put('INBOX', letter(subject))
    dashboard = await Dashboard.openAs('ana', ['--proxy-delays', delays])
    token = (await dashboard.api.createAgent({ name: 'mailbot' })).token
    await dashboard.api.saveOrganisationPolicy({ text: policy })
  })
  afterAll(async () => {
    await dashboard?.[Symbol.asyncDispose]()
    await smtp?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  const assertClean = async () => {
    expect(await dashboard.axeFindings()).toEqual([])
    expect(await dashboard.overhang()).toBe(0)
  }
  const idOf = async (subject: string): Promise<string> => {
    const { result } = await invoke(dashboard.run, token, 'email.search', { query: subject })
    const [found] = (result?.data?.['messages'] ?? []) as { message_id: string }[]
    return found?.message_id ?? ''
  }
  const move = async (message_id: string) => {
    const args = { message_ids: [message_id], folder: 'Archive' }
    const { result } = await invoke(dashboard.run, token, 'email.move', args)
    return String(result?.data?.['write_id'])
  }
  const writeOf = async (id: string) =>
    (await dashboard.api.listWrites({ status: 'all' })).writes.find((one) => one.id === id)
  const cardOf = (id: string) => dashboard.page.locator(`[data-write="${id}"]`)

  test('is connected once it was seen to work, for the agents that were chosen', async () => {
    const { page, api } = dashboard
    await dashboard.goTo('/services')
    await page.getByRole('button', { name: 'Connect a service' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Kind').selectOption('mail')
    const submit = dialog.getByRole('button', { name: 'Test and connect' })
    expect(await submit.isDisabled()).toBe(true)
    await dialog.getByLabel('mailbot').check()
    await dialog.getByLabel('Address').fill(server.user)
    await dialog.getByLabel('IMAP host').fill('127.0.0.1')
    await dialog.getByLabel('SMTP host').fill('127.0.0.1')
    await dialog.getByLabel('Password', { exact: true }).fill('another password')
    await dialog.getByText('More settings').click()
    await dialog.getByLabel('IMAP port').fill(String(server.imapPort))
    await dialog.getByLabel('IMAP security').selectOption('plain')
    await dialog.getByLabel('SMTP port').fill(String(smtp.port))
    await dialog.getByLabel('SMTP security').selectOption('plain')
    expect(await dashboard.axeFindings()).toEqual([])
    await submit.click()
    await dialog.getByRole('alert').waitFor()
    expect(await dialog.getByRole('alert').innerText()).not.toContain('another password')
    expect((await api.showProxy()).services).toEqual([])
    await dialog.getByLabel('Password', { exact: true }).fill(server.password)
    await submit.click()
    await page.getByText('Connected', { exact: true }).waitFor()
    expect((await api.showProxy()).services).toMatchObject([
      { name: 'mail', status: 'connected', agents: ['mailbot'] },
    ])
    await assertClean()
  })

  test('shows a mail that waits with its countdown, and nothing is sent once it is cancelled', async () => {
    const { page, run } = dashboard
    const sent = await invoke(run, token, 'email.send', {
      to: ['ben@example.net'],
      subject: 'Offer',
      body: 'For you.',
    })
    const id = String(sent.result?.data?.['write_id'])
    await page.getByRole('tab', { name: 'Writes' }).click()
    const card = cardOf(id)
    await card.getByText(/runs in 5\d min \d+ s/).waitFor()
    expect(await card.innerText()).toContain('to ben@example.net')
    await assertClean()
    await card.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Cancelled. Nothing was sent.').waitFor()
    await card.waitFor({ state: 'detached' })
    expect(await writeOf(id)).toMatchObject({ status: 'cancelled', ended_by: 'user:ana' })
    expect(smtp.deliveries).toEqual([])
  })

  test('rolls a write back after its preview was read', async () => {
    const { page } = dashboard
    const id = await move(await idOf('first'))
    await expect.poll(async () => (await writeOf(id))?.status).toBe('executed')
    expect(server.maildir().list('Archive')).toHaveLength(1)
    await page.getByRole('tab', { name: 'Rollback points' }).click()
    await page.getByRole('button', { name: 'Roll back' }).click()
    const dialog = page.getByRole('dialog', { name: 'Roll back this write?' })
    await dialog.getByText('What will be done').waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    expect(server.maildir().list('Archive')).toHaveLength(1)
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await page.getByText('Rolled back', { exact: true }).waitFor()
    expect(server.maildir().list('Archive')).toEqual([])
    expect(server.maildir().list('INBOX')).toHaveLength(2)
    await assertClean()
  })

  test('says why a write failed, and lets it go after asking', async () => {
    const { page, api } = dashboard
    const args = { message_id: await idOf('second'), to: ['gone@example.net'] }
    const { result } = await invoke(dashboard.run, token, 'email.forward', args)
    const id = String(result?.data?.['write_id'])
    await expect.poll(async () => (await writeOf(id))?.dead_letter).toBe(true)
    await dashboard.goTo('/services?tab=writes&status=dead')
    const card = cardOf(id)
    expect(await card.innerText()).toContain((await writeOf(id))?.error?.message)
    await assertClean()
    await card.getByRole('button', { name: 'Discard' }).click()
    await page.getByLabel('Type forward to confirm').fill('forward')
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await card.waitFor({ state: 'detached' })
    expect(await writeOf(id)).toMatchObject({ dead_letter: false, ended_by: 'user:ana' })
    expect((await api.showProxy()).services[0]).toMatchObject({ dead_letters: 0 })
  })

  test('is changed, and disconnected with what it left once its name was typed', async () => {
    const { page, api } = dashboard
    await dashboard.goTo('/services')
    await page.getByRole('button', { name: 'Actions: mail' }).click()
    await page.getByRole('menuitem', { name: 'Change' }).click()
    const dialog = page.getByRole('dialog', { name: 'Connect mail anew' })
    await dialog.getByLabel('Every agent').check()
    await dialog.getByRole('button', { name: 'Test and connect' }).click()
    await page.getByText('mail is connected.').waitFor()
    expect((await api.showProxy()).services[0]).toMatchObject({ agents: ['mailbot', '*'] })
    await page.getByRole('button', { name: 'Actions: mail' }).click()
    await page.getByRole('menuitem', { name: 'Disconnect' }).click()
    await page.getByLabel('Type mail to confirm').fill('mail')
    await page.getByLabel('Delete its settings too').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
    await page.getByText('No services').waitFor()
    expect((await api.showProxy()).services).toEqual([])
  })
})
