import { expect } from 'vitest'
import type { Action, World } from './world.ts'

export const mailActions = (world: World): readonly Action[] => {
  const { mail, smtp } = world
  let id = ''
  let before = ''
  const serviceOf = async () => (await world.api.showProxy()).services[0]
  const write = async () =>
    (await world.api.listWrites({ status: 'all' })).writes.find((one) => one.id === id)
  const fail = (subject: string) => async () => {
    id = await world.forward(subject)
    await expect.poll(async () => (await write())?.dead_letter).toBe(true)
  }
  return [
    {
      does: 'connectService',
      at: '/services',
      by: async (keys) => {
        await keys.press('Connect a service')
        await keys.pick('Kind', 'E-mail (IMAP and SMTP)')
        await keys.fill('Address', mail.user)
        await keys.fill('IMAP host', '127.0.0.1')
        await keys.fill('SMTP host', '127.0.0.1')
        await keys.fill('Password', mail.password)
        await keys.press('More settings')
        await keys.fill('IMAP port', String(mail.imapPort))
        await keys.pick('IMAP security', 'plain')
        await keys.fill('SMTP port', String(smtp.port))
        await keys.pick('SMTP security', 'plain')
        await keys.check('mailbot')
        await keys.press('Test and connect')
      },
      holds: async () => (await serviceOf())?.status === 'connected',
    },
    {
      does: 'testService',
      at: '/services',
      by: (keys) => keys.choose('Actions: mail', 'Test'),
      holds: async () => world.dashboard.page.getByText('Everything about mail works.').isVisible(),
    },
    {
      does: 'syncService',
      at: '/services',
      by: (keys) => keys.press('Sync now'),
      holds: async () => world.dashboard.page.getByText('mail is being read.').isVisible(),
    },
    {
      does: 'syncService',
      at: '/services',
      first: async () => {
        before = (await serviceOf())?.last_sync ?? ''
      },
      by: (keys) => keys.choose('Actions: mail', 'Read everything again'),
      holds: async () => ((await serviceOf())?.last_sync ?? '') > before,
    },
    {
      does: 'cancelWrite',
      at: '/services?tab=writes',
      first: async () => {
        const args = { to: ['ben@example.net'], subject: 'Offer', body: 'For you.' }
        id = await world.write('email.send', args)
      },
      by: async (keys) => {
        await keys.press('Details')
        await keys.press('Cancel')
      },
      holds: async () => (await write())?.status === 'cancelled',
    },
    {
      does: 'rollBack',
      at: '/services?tab=rollbacks',
      first: async () => {
        id = await world.move('first')
        await expect.poll(async () => (await write())?.status).toBe('executed')
      },
      by: async (keys) => {
        await keys.press('Roll back…')
        await keys.press('Roll back')
      },
      holds: async () => mail.maildir().list('Archive').length === 0,
    },
    {
      does: 'retryWrite',
      at: '/services?tab=writes&status=dead',
      first: fail('second'),
      by: async (keys) => {
        await keys.press('Send again')
        await keys.press('Send again')
      },
      holds: async (api) => (await api.queryAudit({ capability: 'write.retried' })).total === 1,
    },
    {
      does: 'discardWrite',
      at: '/services?tab=writes&status=dead',
      first: async () => {
        await expect.poll(async () => (await write())?.dead_letter).toBe(true)
      },
      by: async (keys) => {
        await keys.press('Discard')
        await keys.fill('Type forward to confirm', 'forward')
        await keys.press('Discard')
      },
      holds: async () => (await write())?.dead_letter === false,
    },
    {
      does: 'connectService',
      at: '/services',
      by: async (keys) => {
        await keys.choose('Actions: mail', 'Change…')
        await keys.check('Every agent')
        await keys.press('Test and connect')
      },
      holds: async () => (await serviceOf())?.agents.includes('*') === true,
    },
    {
      does: 'disconnectService',
      at: '/services',
      by: async (keys) => {
        await keys.choose('Actions: mail', 'Disconnect')
        await keys.check('Delete its settings too')
        await keys.fill('Type mail to confirm', 'mail')
        await keys.press('Disconnect')
      },
      holds: async () => (await serviceOf()) === undefined,
    },
  ]
}
